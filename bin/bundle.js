/**
 * Puts the daemon into one file and the command line into another: reading one file instead of some hundreds halves the time
 * to the first answer.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { cacheFileOf } from './load.cjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** @type {import('esbuild').BuildOptions} */
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  sourcemap: true,
  logLevel: 'warning',
}

/**
 * Writes the characters of a script that are not ASCII as escapes. bin/load.cjs reads a script as latin1, which takes half the time of UTF-8 and
 * gives V8 a string of one byte a character. esbuild escapes strings; it leaves tagged templates and regular expressions as they are.
 */
function toAscii(path) {
  const code = readFileSync(path, 'utf8')
  const raw = /\.raw`[^`]*[^\0-\x7f]/.exec(code)
  if (raw)
    throw new Error(
      `${path} has a raw template that is not ASCII, where an escape would be another text: ${raw[0].slice(-80)}`,
    )
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  writeFileSync(path, code.replaceAll(/[^\0-\x7f]/g, escaped))
}

const nativeModules = ['@napi-rs/keyring', 'better-sqlite3', 'better-sqlite3-node20', 'secp256k1']

/** Packages of the older kind call `require`, which a module of the newer kind does not have. */
const requireBanner =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

// A cache of other code must not be there, however briefly: V8 compares lengths only.
for (const use of ['command', 'help', 'daemon']) rmSync(cacheFileOf(use), { force: true })

/** A script that comes out of a cache knows its own place by this, and has nobody to ask for an `import()`; `require` it has. */
const script = {
  format: 'cjs',
  supported: { 'dynamic-import': false },
  banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
  define: { 'import.meta.url': 'importMetaUrl' },
  // Names of authors are not ASCII: they are kept in a file beside the script.
  legalComments: 'linked',
}

/** Of a namespace that a module imports as such, esbuild leaves out what is not used. */
const zodAsItIsUsed = {
  name: 'zod-as-it-is-used',
  setup: (build) =>
    build.onLoad({ filter: /[\\/](?:cli|commands|daemon|src)[\\/].*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace("import { z } from 'zod'", "import * as z from 'zod'"),
      loader: 'ts',
    })),
}

/** Of undici connections and requests: the rest of it, a browser's `fetch` above all, takes longer to load than the agent. */
const undiciAsItIsUsed = {
  name: 'undici-as-it-is-used',
  setup: (build) =>
    build.onLoad({ filter: /[\\/]undici[\\/]index\.js$/ }, () => ({
      contents: `
        Object.assign(require('./lib/dispatcher/dispatcher').prototype, { request: require('./lib/api/api-request') })
        exports.Agent = require('./lib/dispatcher/agent')
        exports.buildConnector = require('./lib/core/connect')`,
    })),
}

await build({
  ...common,
  ...script,
  // Less to read at every start; names stay, for those who read its log.
  minifySyntax: true,
  minifyWhitespace: true,
  plugins: [zodAsItIsUsed, undiciAsItIsUsed],
  entryPoints: { agent: 'daemon/server/bundle.ts' },
  outdir: 'dist/daemon',
  outExtension: { '.js': '.cjs' },
  // Native modules are found at run time, each by the file that knows which of them runs here.
  external: nativeModules,
  // Packages bring several releases of one table of media types, which each takes its time to read.
  alias: { 'mime-types': join(root, 'node_modules/mime-types') },
})
toAscii(`${root}dist/daemon/agent.cjs`)
writeFileSync(
  `${root}dist/daemon/main.js`,
  `${requireBanner}\nrequire('../../bin/load.cjs').load('daemon').main()\n`,
)

await build({
  ...common,
  entryPoints: [
    // What `agent doctor` asks while no daemon answers.
    { in: 'daemon/server/examine.ts', out: 'examine' },
    // What `agent backup` asks, whether a daemon runs or not.
    { in: 'daemon/server/backup.ts', out: 'backup' },
    // Threads of the daemon, which start from files of their own beside it.
    { in: 'src/schemas/schema-worker.ts', out: 'schema-worker' },
    { in: 'src/doctor/file-worker.ts', out: 'file-worker' },
    { in: 'src/backup/copy-worker.ts', out: 'copy-worker' },
    { in: 'src/anoncreds/anoncreds-worker.ts', out: 'anoncreds-worker' },
    // A process that it starts.
    { in: 'src/anoncreds/key-process.ts', out: 'key-process' },
  ],
  outdir: 'dist/daemon',
  format: 'esm',
  external: nativeModules,
  banner: { js: requireBanner },
})

// The dashboard: Ink waits for WebAssembly at its top level, which only a module of the newer kind can, and `agent tui` alone loads it.
await build({
  ...common,
  entryPoints: ['cli/tui/main.tsx'],
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
        build.onLoad({ filter: /[\\/]ink[\\/]build[\\/]utils\.js$/ }, () => ({
          contents: 'export const isDev = () => false',
        }))
        build.onResolve({ filter: /^\.\/devtools\.js$/ }, ({ path }) => ({ path, external: true }))
        // Whoever has a terminal sees the dashboard, whatever CI says.
        build.onLoad({ filter: /[\\/]is-in-ci[\\/]index\.js$/ }, () => ({ contents: 'export default false' }))
      },
    },
  ],
})

/** CommonJS as TypeScript writes it, with its modules loaded when they are used. */
function lazily(code) {
  const names = []
  const lazy = code.replaceAll(/^const (\w+_\d+) = (.*\brequire\(.*\).*);$/gm, (_, name, value) => {
    names.push(name)
    return `let ${name}_; const ${name} = () => (${name}_ ??= ${value});`
  })
  return names.reduce((text, name) => text.replaceAll(new RegExp(`\\b${name}\\.`, 'g'), `(${name}()).`), lazy)
}

/** What oclif does on the way to every answer and need not do. */
const dearParts = {
  // The commands are sorted as people would, and making ICU ready for that takes a tenth of what a command takes.
  'config/plugin.js': ['a.id.localeCompare(b.id)', '(a.id < b.id ? -1 : 1)'],
  // Every text of a help is compiled as a template, and most are none.
  'help/util.js': [
    'ejs_1.default.render(t, context)',
    "(typeof t === 'string' && !t.includes('<%') ? t : ejs_1.default.render(t, context))",
  ],
  // Loading node:fs/promises takes longer than the few files that are read.
  'util/fs.js': ["(0, promises_1.readFile)(path, 'utf8')", "(0, node_fs_1.readFileSync)(path, 'utf8')"],
}

/** A module of oclif without them. */
function withoutDearParts(path, code) {
  const [dear, cheap] = Object.entries(dearParts).find(([name]) =>
    path.replaceAll('\\', '/').endsWith(`/lib/${name}`),
  )?.[1] ?? ['', '']
  if (!code.includes(dear)) throw new Error(`${path} is otherwise than it was: there is no ${dear} in it.`)
  return code.replaceAll(dear, cheap)
}

// Files whose names begin with _ are what commands share.
const commands = readdirSync(`${root}commands`, { recursive: true })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts') && !/(?:^|\/)_/.test(file))
  .toSorted()

await build({
  ...common,
  ...script,
  // Less to read at every start.
  minify: true,
  // A command is evaluated when oclif asks for it.
  stdin: {
    contents: `export * from './cli/main.ts'
export const commands = {
  get help() { return require('@oclif/plugin-help').commands.help },
${commands.map((file) => `  get '${file.slice(0, -'.ts'.length).replaceAll('/', ':')}'() { return require('./commands/${file}').default },`).join('\n')}
}`,
    resolveDir: root,
  },
  outfile: 'dist/commands.cjs',
  // oclif asks for it in a folder with TypeScript in it only.
  external: ['typescript'],
  plugins: [
    {
      name: 'oclif-as-it-is-used',
      setup: (build) =>
        build.onLoad({ filter: /[\\/]@oclif[\\/]core[\\/]lib[\\/].*\.js$/ }, ({ path }) => ({
          contents: lazily(withoutDearParts(path, readFileSync(path, 'utf8'))),
          loader: 'js',
        })),
    },
    {
      name: 'without-wsl',
      // oclif asks whether it is on Windows’ Linux, which nothing here wants to know.
      setup: (build) =>
        build.onLoad({ filter: /[\\/]wsl-utils[\\/]index\.js$/ }, () => ({
          contents: 'export const isWsl = false',
        })),
    },
    zodAsItIsUsed,
    {
      name: 'prompts-beside',
      setup: (build) =>
        build.onResolve({ filter: /\/prompts\.ts$/ }, () => ({ path: './prompts.cjs', external: true })),
    },
    {
      name: 'dashboard-beside',
      setup: (build) =>
        build.onLoad({ filter: /[\\/]tui[\\/]main\.tsx$/ }, () => ({
          contents:
            "export const start = async (options) => (await require.import('./tui.js')).start(options)",
        })),
    },
  ],
})
toAscii(`${root}dist/commands.cjs`)

// What shells ask on every tab, without anything that it does not need, and questions, which most commands never ask.
await build({
  ...common,
  minify: true,
  entryPoints: { complete: 'cli/completion/complete.ts', prompts: 'cli/prompts/prompts.ts' },
  outdir: 'dist',
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  supported: { 'dynamic-import': false },
  plugins: [zodAsItIsUsed],
})
