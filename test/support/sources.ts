/**
 * The sources as modules that Node.js reads: the tests import these, which is faster than transforming each
 * source in Vite. `build.ts` compiles them, `vitest.config.ts` resolves imports to them.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type PluginBuild } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** The folders of the sources. */
export const folders = ['cli', 'commands', 'daemon', 'library', 'src']
const modules = `${root}node_modules/.cache/identity-agent/modules/`

/** Written last. */
export const lastOfSources = `${modules}written`

const isSource = (path: string) => folders.includes(path.split('/', 1)[0]!) && /(?<!\.d)\.tsx?$/.test(path)

/** Returns the compiled module of a source, or undefined for another file. Paths are absolute. */
export function moduleOf(path: string): string | undefined {
  const name = path.startsWith(root) ? path.slice(root.length) : ''
  return isSource(name) ? modules + name.replace(/\.tsx?$/, '.mjs') : undefined
}

/**
 * What sources import instead of `src/foundation/program.ts`: their threads start from the bundles, as in a
 * daemon.
 */
const programs = 'test/support/program.ts'

/** The files that the compiled modules depend on, besides the sources. */
export const compilers = ['test/support/sources.ts', programs]

/** Compiles the sources among files. */
export async function compileSources(files: readonly string[]): Promise<void> {
  rmSync(modules, { recursive: true, force: true })
  await build({
    absWorkingDir: root,
    entryPoints: [programs, ...files.filter(isSource)],
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
function compileEach(plugin: PluginBuild): void {
  plugin.onResolve({ filter: /^\..*\.tsx?$/ }, ({ kind, path, resolveDir }) => {
    if (kind === 'entry-point') return undefined
    const source = resolve(resolveDir, path)
    const imported = source === `${root}src/foundation/program.ts` ? root + programs : source
    return { path: `${modules}${relative(root, imported).replace(/\.tsx?$/, '.mjs')}`, external: true }
  })
  plugin.onLoad({ filter: /\.tsx?$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replaceAll(
      'import.meta.url',
      JSON.stringify(pathToFileURL(path).href),
    ),
    loader: path.endsWith('x') ? 'tsx' : 'ts',
  }))
}
