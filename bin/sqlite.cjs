/**
 * Provides SQLite for this Node.js. better-sqlite3 13 carries its binaries and needs Node-API 10, which
 * Node.js has since 22.14. For an older Node.js, release 12 is compiled into `node_modules/.sqlite-node20`,
 * where npm neither removes nor replaces it. `src/foundation/storage/sqlite.ts` loads the same names.
 * docs/decisions/0065-package.md has the reasons.
 */
const { execFileSync, spawnSync } = require('node:child_process')
const {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} = require('node:fs')
const { basename, dirname, join } = require('node:path')

const modules = join(__dirname, '..', 'node_modules')
const binary = join('build', 'Release', 'better_sqlite3.node')
const hasBinary = Number(process.versions.napi) >= 10
const packageName = hasBinary ? 'better-sqlite3' : '.sqlite-node20/node_modules/better-sqlite3'

/** Why SQLite cannot be used, in one line; undefined when it can. */
function findFault() {
  try {
    const Database = require(packageName)
    new Database(':memory:').close()
    return undefined
  } catch (error) {
    return String(error.message).split('\n')[0]
  }
}

/**
 * Compiles SQLite if this Node.js needs that and it is not done.
 *
 * @throws an error with one sentence when SQLite cannot be used afterwards
 */
function provideSqlite() {
  if (findFault() === undefined) return
  // Earlier versions of a clone have compiled the same release as a package of npm.
  if (!hasBinary && existsSync(join(modules, 'better-sqlite3-node20', binary)))
    keep(modules, 'better-sqlite3-node20')
  if (!hasBinary && findFault() !== undefined) compile()
  const fault = findFault()
  if (fault !== undefined)
    throw new Error(
      `SQLite cannot be loaded by Node.js ${process.version} on ${process.platform}-${process.arch}: ${fault}.`,
    )
}

function compile() {
  console.log(
    `Compiling SQLite (better-sqlite3 12) for Node.js ${process.version}, which takes one to two minutes and needs Python 3, make and a C++ compiler. ` +
      'Node.js 22.14 and later need none of it.',
  )
  const folder = temporary()
  try {
    for (const file of ['package.json', 'package-lock.json'])
      copyFileSync(join(__dirname, 'sqlite-node20', file), join(folder, file))
    install(folder)
    keep(join(folder, 'node_modules'), 'better-sqlite3')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A folder beside the target, for a rename: what was interrupted leaves no half of a package. */
function temporary() {
  mkdirSync(modules, { recursive: true })
  return mkdtempSync(join(modules, '.sqlite-'))
}

/**
 * Copies what is needed at run time of a compiled package in `from`. The sources and what the compiler leaves
 * are 25 MB.
 */
function keep(from, name) {
  const target = join(modules, '.sqlite-node20')
  const folder = temporary()
  const copy = (source, destination) =>
    cpSync(join(from, source), join(folder, 'node_modules', destination), { recursive: true })
  for (const part of ['lib', 'package.json', 'LICENSE', binary])
    copy(join(name, part), join('better-sqlite3', part))
  for (const part of ['bindings', 'file-uri-to-path']) copy(part, part)
  rmSync(target, { recursive: true, force: true })
  renameSync(folder, target)
}

/**
 * Runs `npm ci`, whose settings (registry, proxy, cache) are those of the npm that runs this. node-gyp takes
 * the headers of Node.js from this machine if they are there, and downloads them otherwise.
 */
function install(folder) {
  const args = [
    'ci',
    '--prefix',
    folder,
    '--global=false',
    '--location=project',
    '--workspaces=false',
    '--dry-run=false',
    '--ignore-scripts=false',
  ]
  const quiet = ['--foreground-scripts', '--loglevel=error', '--audit=false', '--fund=false']
  const [program, ...first] = npm()
  const headers = findHeaders(process.execPath)
  try {
    execFileSync(program, [...first, ...args, ...quiet], {
      cwd: folder,
      stdio: 'pipe',
      env:
        hasOwnHeaders(process.env) || !headers
          ? process.env
          : { ...process.env, npm_config_nodedir: headers },
      shell: program === 'npm' && process.platform === 'win32',
    })
  } catch (error) {
    const output = `${error.stdout || ''}${error.stderr || error.message}`
    const missing = missingTools()
    if (missing.length === 0) process.stderr.write(`${output}\n`)
    throw new Error(`SQLite was not compiled, ${reasonOf(missing, output)}`, { cause: error })
  }
}

/** Why the compilation failed, and the way out. */
function reasonOf(missing, output) {
  const otherwise = 'or use Node.js 22.14 or later, which needs no compiler.'
  if (missing.length === 0 && /node-gyp[\\/]lib[\\/](?:install|download)\.js/.test(output))
    return (
      `because the headers of Node.js ${process.version} could not be downloaded: install them to ${headersBeside(process.execPath)} ` +
      `(libnode-dev on Debian), or set npm_config_nodedir to a folder that has include/node/node.h, and repeat the installation, ${otherwise}`
    )
  const tools = new Intl.ListFormat('en').format(missing)
  const reason =
    missing.length > 0
      ? `because ${tools} ${missing.length > 1 ? 'are' : 'is'} missing`
      : 'for the reason above'
  return `${reason}: install Python 3, make and a C++ compiler and repeat the installation, ${otherwise}`
}

/** Where official archives, container images, NodeSource and Debian put the headers of a Node.js program. */
const headersBeside = (program) => join(dirname(dirname(program)), 'include', 'node')

/**
 * The folder for node-gyp's `nodedir` if it has the headers of this Node.js: those of another one define
 * another module version.
 */
function findHeaders(program) {
  const folder = headersBeside(program)
  try {
    const version = readFileSync(join(folder, 'node_version.h'), 'utf8')
    const [, modules] = /^#define NODE_MODULE_VERSION (\d+)/m.exec(version) ?? []
    const isWhole = existsSync(join(folder, 'node.h')) && modules === process.versions.modules
    return isWhole ? dirname(dirname(folder)) : undefined
  } catch {
    return undefined
  }
}

/** Whether the person has said where node-gyp finds headers: npm passes its settings on in variables. */
function hasOwnHeaders(env) {
  return ['npm_config_nodedir', 'npm_config_disturl', 'npm_config_dist_url', 'NODEJS_ORG_MIRROR'].some(
    (name) => env[name] || env[name.toUpperCase()],
  )
}

/** The command that runs npm: the npm that runs this, or that of the path under another package manager. */
function npm() {
  const cli = join(dirname(process.env.npm_execpath || ''), 'npm-cli.js')
  const isNpm = /^np[mx]-cli\.js$/.test(basename(process.env.npm_execpath || '')) && existsSync(cli)
  return isNpm ? [process.execPath, cli] : ['npm']
}

function missingTools() {
  if (process.platform === 'win32') return []
  const isThere = (command) => !spawnSync(command, ['--version'], { stdio: 'ignore' }).error
  const tools = {
    'Python 3': [process.env.PYTHON || 'python3', 'python'],
    make: [process.env.MAKE || 'make', 'gmake'],
    'a C++ compiler': [process.env.CXX || 'c++', 'g++', 'clang++'],
  }
  return Object.keys(tools).filter((name) => !tools[name].some(isThere))
}

module.exports = { provideSqlite, findHeaders }
