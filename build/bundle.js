/**
 * Bundles the daemon, the command line and the dashboard into `dist`: one file loads faster than several
 * hundred. Part of `npm run build`.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as esbuild from 'esbuild'
import { writeApiPage } from './api-page.js'
import { bundleLibrary, ownZod } from './library.js'
import { notices } from './notices.js'

const root = fileURLToPath(new URL('..', import.meta.url))
// `npm run declarations` and `npm run docs` write what stays.
for (const name of existsSync(`${root}dist`) ? readdirSync(`${root}dist`) : [])
  if (!name.endsWith('.d.ts') && name !== 'examples.json') rmSync(`${root}dist/${name}`, { recursive: true })

/** @type {import('esbuild').BuildOptions} */
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  sourcemap: true,
  define: { 'process.env.NODE_ENV': '"production"' },
  minifySyntax: true,
  minifyWhitespace: true,
  // Native modules are resolved at run time. oclif asks for typescript in source trees only.
  external: ['@napi-rs/keyring', 'better-sqlite3', 'pg-native', 'secp256k1', 'typescript'],
  logLevel: 'warning',
  metafile: true,
}

/** What each bundle contains. @type {esbuild.Metafile[]} */
const metafiles = []
/** @param {esbuild.BuildOptions} options */
async function build(options) {
  metafiles.push((await esbuild.build(options)).metafile)
}

/**
 * CommonJS for bin/load.cjs, which runs it without `import()`. `require` of a command evaluates that command
 * only.
 */
const script = {
  ...common,
  // Koa's packages bring three copies of a table of media types, of 140 KB each.
  alias: { 'mime-types': `${root}node_modules/mime-types` },
  format: 'cjs',
  supported: { 'dynamic-import': false },
  outExtension: { '.js': '.cjs' },
  banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
  define: { ...common.define, 'import.meta.url': 'importMetaUrl' },
  legalComments: 'linked',
}

/** ES modules for all else: Ink uses top-level await. The banner is for bundled CommonJS packages. */
const module = {
  ...common,
  format: 'esm',
  banner: {
    js: "import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);",
  },
}

/**
 * Packages that the daemon loads when they are first needed, each as a file beside its bundle, so that no
 * start reads them.
 */
const onDemand = ['pg', 'prom-client', 'yaml']

/** Imports of the modules that `dist/qr.cjs` has. */
const qrCodes = /\/qr\/(?:draw|files|open-link|terminal)\.ts$/

/** Leaves modules in bundles of their own, which `import()` loads. @returns {import('esbuild').Plugin} */
const separate = (bundles) => ({
  name: 'separate',
  setup(build) {
    for (const [filter, path] of bundles) build.onResolve({ filter }, () => ({ path, external: true }))
  },
})

await build({
  ...script,
  entryPoints: { agent: 'daemon/bundle.ts' },
  outdir: 'dist/daemon',
  plugins: [
    ownZod,
    separate([
      ...onDemand.map((name) => [new RegExp(`^${name}$`), `./${name}.cjs`]),
      [/\/views\.ts$/, './pages.cjs'],
      [/\/net\/lan\.ts$/, './lan.cjs'],
      [/\/net\/certificate\.ts$/, './certificate.cjs'],
      [/\/x509\/index\.ts$/, './x509.cjs'],
    ]),
  ],
})

await build({ ...script, entryPoints: onDemand, outdir: 'dist/daemon', sourcemap: false })

// The daemon loads this one with the first web page.
await build({ ...script, entryPoints: { pages: 'daemon/pages/views.ts' }, outdir: 'dist/daemon' })
// The daemon loads these only for HTTPS, for the certificates of issuers, and, as the command line does, for
// `--lan`.
await build({
  ...script,
  minify: true,
  entryPoints: {
    certificate: 'src/foundation/net/certificate.ts',
    x509: 'src/foundation/x509/index.ts',
    lan: 'src/foundation/net/lan.ts',
  },
  outdir: 'dist/daemon',
  sourcemap: false,
})

// The thread of AnonCreds loads this one: WebAssembly in the SDK of Identus.
await build({
  ...script,
  minify: true,
  entryPoints: { anoncreds: '@hyperledger/identus-sdk/plugins/anoncreds' },
  outdir: 'dist/daemon',
  sourcemap: false,
})

// The daemon loads this one only if it exports traces. The ES modules of OpenTelemetry have no code that
// nothing uses.
await build({
  ...script,
  minify: true,
  entryPoints: { tracing: 'src/foundation/otel/export.ts' },
  conditions: ['module'],
  mainFields: ['module', 'main'],
  outdir: 'dist/daemon',
})

await build({
  ...module,
  entryPoints: [
    { in: 'cli/tui/main.tsx', out: 'tui' },
    // Programs that `agent doctor` and `agent backup` run, with or without a daemon.
    { in: 'daemon/server/examine.ts', out: 'daemon/examine' },
    { in: 'daemon/server/backup.ts', out: 'daemon/backup' },
    // Threads and processes of the daemon.
    { in: 'src/credentials/schemas/schema-worker.ts', out: 'daemon/schema-worker' },
    { in: 'src/operations/doctor/file-worker.ts', out: 'daemon/file-worker' },
    { in: 'src/operations/backup/copy-worker.ts', out: 'daemon/copy-worker' },
    { in: 'src/credentials/anoncreds/anoncreds-worker.ts', out: 'daemon/anoncreds-worker' },
    { in: 'src/credentials/anoncreds/key-process.ts', out: 'daemon/key-process' },
  ],
  outdir: 'dist',
  // Ink: its developer tools are not installed, and it draws nothing where CI is set.
  external: [...common.external, './devtools.js'],
  alias: { 'is-in-ci': `${root}build/not-in-ci.js` },
  plugins: [separate([[/\/sdk\.ts$/, './anoncreds.cjs']])],
})

const commands = readdirSync(`${root}commands`, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts'))
  .toSorted()
const getters = commands.map((file) => {
  const id = file.slice(0, -'.ts'.length).replaceAll('/', ':')
  return `get '${id}'() { return require('./commands/${file}').default },`
})
await build({
  ...script,
  minify: true,
  stdin: {
    contents: `export * from './cli/main.ts'
      export const commands = {
        ${getters.join('\n')}
      }`,
    resolveDir: root,
  },
  outfile: 'dist/commands.cjs',
  plugins: [
    separate([
      [/\/config\/report\.ts$/, './config.cjs'],
      [/\/net\/lan\.ts$/, './daemon/lan.cjs'],
      [qrCodes, './qr.cjs'],
      [/\/login\/provider\.ts$/, './login.cjs'],
      [/\/operations\/decode\/index\.ts$/, './decode.cjs'],
      [/\/operations\/decode\/picture\.ts$/, './picture.cjs'],
    ]),
  ],
})
// What draws QR codes.
await build({
  ...script,
  minify: true,
  stdin: {
    contents: ['draw', 'files', 'open-link', 'terminal']
      .map((name) => `export * from './cli/qr/${name}.ts'`)
      .join('\n'),
    resolveDir: root,
  },
  outfile: 'dist/qr.cjs',
})
// What few commands need.
await build({
  ...script,
  minify: true,
  entryPoints: {
    // Signs in at an OpenID provider, and renews tokens.
    login: 'cli/login/provider.ts',
    // What `agent decode` and `agent dcql` read with, and what reads a QR code in a picture.
    decode: 'src/operations/decode/index.ts',
    picture: 'src/operations/decode/picture.ts',
  },
  outdir: 'dist',
  sourcemap: false,
  plugins: [separate([[/\/x509\/index\.ts$/, './daemon/x509.cjs']])],
})
// What `agent config` and a start with a configuration file need.
await build({
  ...script,
  minify: true,
  entryPoints: { config: 'src/foundation/config/report.ts' },
  outdir: 'dist',
  plugins: [separate([[/^yaml$/, './daemon/yaml.cjs']])],
})
// V8 reads ASCII faster. esbuild escapes strings, but not regular expressions.
const bundle = `${root}dist/commands.cjs`
const toEscape = (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
writeFileSync(bundle, readFileSync(bundle, 'utf8').replaceAll(/[^\0-\x7f]/g, toEscape))

// The shell runs this on every Tab.
await build({
  ...script,
  minify: true,
  entryPoints: ['cli/completion/complete.ts'],
  outdir: 'dist',
  plugins: [separate([[/\/config\/report\.ts$/, './config.cjs']])],
})

writeApiPage(root)

await bundleLibrary(root, separate, build)

writeFileSync(`${root}dist/LICENSES.txt`, notices(root, metafiles))
