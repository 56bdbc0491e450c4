/** Loads what the build has made one file of, with the code that V8 has made of it before (bin/code-cache.js) instead of compiling it again. */
const { existsSync, readFileSync } = require('node:fs')
const { createRequire, Module } = require('node:module')
const { dirname, join } = require('node:path')
const { Script } = require('node:vm')

/** The file of each use. The command line has two: what another use needs is compiled when it is called. */
const files = { command: 'commands.cjs', help: 'commands.cjs', daemon: 'daemon/agent.cjs' }

const fileOf = (use) => join(__dirname, '../dist', files[use])

/** The file of a cache: the code of a `command`, that of `help`, or that of the `daemon`. */
const cacheFileOf = (use) => `${fileOf(use)}.${use}.cache`

/**
 * The bundle's exports, and the script they come of, for a `use`. Another version of Node than the cache's compiles the script itself.
 * Whoever requires the file, as oclif does, is given the same.
 */
function load(use) {
  const [file, cacheFile] = [fileOf(use), cacheFileOf(use)]
  const script = new Script(Module.wrap(readFileSync(file, 'latin1')), {
    filename: file,
    ...(existsSync(cacheFile) && { cachedData: readFileSync(cacheFile) }),
  })
  // A script has nobody to ask for an `import()`, which modules of the newer kind need: it asks here.
  const ask = Object.assign(createRequire(file), { import: (name) => import(`../dist/${name}`) })
  const module = new Module(file)
  module.filename = file
  ask.cache[file] = module
  script.runInThisContext()(module.exports, ask, module, file, dirname(file))
  module.loaded = true
  return { script, ...module.exports }
}

module.exports = { cacheFileOf, load }
