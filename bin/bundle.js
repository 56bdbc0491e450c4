/**
 * Puts the daemon into one file and the command line into another: reading one file instead of some hundreds halves the time
 * to the first answer.
 */
import { readdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/** @type {import('esbuild').BuildOptions} */
const common = { absWorkingDir: root, bundle: true, platform: 'node', target: 'node20', sourcemap: true, logLevel: 'warning' }

await build({
  ...common,
  entryPoints: [
    { in: 'daemon/main.ts', out: 'main' },
    // A thread of the daemon, which starts from a file of its own beside it.
    { in: 'src/schemas/schema-worker.ts', out: 'schema-worker' },
  ],
  outdir: 'dist/daemon',
  format: 'esm',
  // Native modules are found at run time, each by the file that knows which of them runs here.
  external: ['better-sqlite3', 'better-sqlite3-node20', 'secp256k1'],
  // Packages of the older kind call `require`, which a module of the newer kind does not have.
  banner: { js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);" },
})

// A cache of other code must not be there, however briefly: V8 compares lengths only.
rmSync(`${root}dist/commands.cjs.cache`, { force: true })

// Files whose names begin with _ are what commands share.
const commands = readdirSync(`${root}commands`, { recursive: true })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts') && !/(?:^|\/)_/.test(file))
  .toSorted()

await build({
  ...common,
  // A command is evaluated when oclif asks for it.
  stdin: {
    contents: `export * from './commands/_main.ts'
export const commands = {
  get help() { return require('@oclif/plugin-help').commands.help },
${commands.map((file) => `  get '${file.slice(0, -'.ts'.length).replaceAll('/', ':')}'() { return require('./commands/${file}').default },`).join('\n')}
}`,
    resolveDir: root,
  },
  outfile: 'dist/commands.cjs',
  format: 'cjs',
  // A script that comes out of a cache has nobody to ask for an `import()`; `require` it has.
  supported: { 'dynamic-import': false },
  // oclif asks for it in a folder with TypeScript in it only.
  external: ['typescript'],
  banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
  define: { 'import.meta.url': 'importMetaUrl' },
})
