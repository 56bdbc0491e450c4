/**
 * Puts the daemon into one file and the command line into another: reading one file instead of some hundreds halves the time
 * to the first answer.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/** @type {import('esbuild').BuildOptions} */
const common = { absWorkingDir: root, bundle: true, platform: 'node', target: 'node20', sourcemap: true, logLevel: 'warning' }

/** Packages of the older kind call `require`, which a module of the newer kind does not have. */
const requireBanner = "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

await build({
  ...common,
  entryPoints: [
    { in: 'daemon/main.ts', out: 'main' },
    // What `agent doctor` asks while no daemon answers.
    { in: 'daemon/examine.ts', out: 'examine' },
    // Threads of the daemon, which start from files of their own beside it.
    { in: 'src/schemas/schema-worker.ts', out: 'schema-worker' },
    { in: 'src/doctor/file-worker.ts', out: 'file-worker' },
  ],
  outdir: 'dist/daemon',
  format: 'esm',
  // Native modules are found at run time, each by the file that knows which of them runs here.
  external: ['better-sqlite3', 'better-sqlite3-node20', 'secp256k1'],
  banner: { js: requireBanner },
})

// The dashboard: Ink waits for WebAssembly at its top level, which only a module of the newer kind can, and `agent tui` alone loads it.
await build({
  ...common,
  entryPoints: ['tui/main.tsx'],
  outfile: 'dist/tui.js',
  format: 'esm',
  minifySyntax: true,
  define: { 'process.env.NODE_ENV': '"production"' },
  banner: { js: requireBanner },
  plugins: [
    {
      name: 'ink-as-it-is-used',
      setup(build) {
        // Its tools for developers are a package that is not here.
        build.onLoad({ filter: /[\\/]ink[\\/]build[\\/]utils\.js$/ }, () => ({ contents: 'export const isDev = () => false' }))
        build.onResolve({ filter: /^\.\/devtools\.js$/ }, ({ path }) => ({ path, external: true }))
        // Whoever has a terminal sees the dashboard, whatever CI says.
        build.onLoad({ filter: /[\\/]is-in-ci[\\/]index\.js$/ }, () => ({ contents: 'export default false' }))
      },
    },
  ],
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
  plugins: [
    {
      name: 'sorted-without-a-language',
      // oclif sorts the commands as people would, and making ICU ready for that takes a tenth of what a command takes.
      setup: (build) =>
        build.onLoad({ filter: /[\\/]@oclif[\\/]core[\\/]lib[\\/]config[\\/]plugin\.js$/ }, ({ path }) => {
          const asPeople = 'a.id.localeCompare(b.id)'
          const code = readFileSync(path, 'utf8')
          if (!code.includes(asPeople)) throw new Error(`${path} sorts otherwise than it did.`)
          return { contents: code.replaceAll(asPeople, '(a.id < b.id ? -1 : 1)'), loader: 'js' }
        }),
    },
    {
      name: 'dashboard-beside',
      setup: (build) =>
        build.onLoad({ filter: /[\\/]tui[\\/]main\.tsx$/ }, () => ({
          contents: "export const start = async (options) => (await require.import('./tui.js')).start(options)",
        })),
    },
  ],
  banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
  define: { 'import.meta.url': 'importMetaUrl' },
})

// What shells ask on every tab, without anything that it does not need.
await build({
  ...common,
  entryPoints: ['commands/_completion/complete.ts'],
  outfile: 'dist/complete.cjs',
  format: 'cjs',
  supported: { 'dynamic-import': false },
})
