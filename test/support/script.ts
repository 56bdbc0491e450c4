/** Test scripts as separate processes: bundled, because transpiling them at each start takes a second. */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))

export type Script = {
  /** Runs it to its end and returns its output. */
  run(...args: string[]): Promise<string>
  /** Starts it and waits for its first output. */
  start(...args: string[]): Promise<{ process: ChildProcess; said: string }>
  [Symbol.dispose](): void
}

/** Bundles a script with its packages, except native ones. */
export async function bundle(script: URL): Promise<Script> {
  // Native packages are resolved from the folder of the bundle.
  const folder = mkdtempSync(join(root, 'node_modules', '.test-'))
  const outfile = join(folder, 'script.mjs')
  // As in build/bundle.js.
  await build({
    entryPoints: [fileURLToPath(script)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['better-sqlite3', 'secp256k1'],
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'warning',
  })
  return {
    run: async (...args) => (await promisify(execFile)(process.execPath, [outfile, ...args])).stdout,
    async start(...args) {
      const child = spawn(process.execPath, [outfile, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
      const [said] = (await Promise.race([
        once(child.stdout, 'data'),
        once(child, 'exit').then(() => ['']),
      ])) as [unknown]
      return { process: child, said: String(said) }
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
