/**
 * The sources as modules that Node.js reads: the tests import these, which is faster than transforming each source in Vite. `_build.ts`
 * compiles them, `vitest.config.ts` resolves imports to them.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type PluginBuild } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const folders = ['cli', 'commands', 'daemon', 'library', 'src']
const modules = `${root}node_modules/.cache/identity-agent/modules/`

/** Written last. */
export const lastOfSources = `${modules}written`

const isSource = (path: string) => /^(?:cli|commands|daemon|library|src)\/.*(?<!\.d)\.tsx?$/.test(path)

/** Returns the compiled module of a source, or undefined for another file. Paths are absolute. */
export function moduleOf(path: string): string | undefined {
  const name = path.startsWith(root) ? path.slice(root.length) : ''
  return isSource(name) ? modules + name.replace(/\.tsx?$/, '.mjs') : undefined
}

/** Compiles all sources. Threads start from the bundles, as in a daemon: `src/base/program.ts` is replaced. */
export async function compileSources(): Promise<void> {
  rmSync(modules, { recursive: true, force: true })
  await build({
    absWorkingDir: root,
    entryPoints: folders.flatMap((folder) =>
      readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
        .map((name) => `${folder}/${name}`)
        .filter(isSource),
    ),
    outdir: modules,
    outbase: root,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    sourcesContent: false,
    logLevel: 'warning',
    plugins: [{ name: 'one-module-each', setup: compileEach }],
  })
  writeFileSync(lastOfSources, '')
}

/** Each source becomes a module of its own, which knows where its source is. */
function compileEach({ onLoad, onResolve }: PluginBuild): void {
  onResolve({ filter: /^\..*\.tsx?$/ }, ({ kind, path }) =>
    kind === 'entry-point' ? undefined : { path: path.replace(/\.tsx?$/, '.mjs'), external: true },
  )
  onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
    const source = path === `${root}src/base/program.ts` ? `${root}test/_program.ts` : path
    const url = JSON.stringify(pathToFileURL(source).href)
    return {
      contents: readFileSync(source, 'utf8').replaceAll('import.meta.url', url),
      loader: path.endsWith('x') ? 'tsx' : 'ts',
    }
  })
}
