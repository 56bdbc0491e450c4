/** Loads the bundle of the command line, with the code that V8 has made of it before (bin/code-cache.js) instead of compiling it again. */
const { existsSync, readFileSync } = require('node:fs')
const { createRequire, Module } = require('node:module')
const { dirname, join } = require('node:path')
const { Script } = require('node:vm')

const file = join(__dirname, '../dist/commands.cjs')

/** The file of a cache: the code of a `command`, or that of `help`. */
const cacheFileOf = (use) => `${file}.${use}.cache`

/**
 * The bundle's exports, and the script they come of, for a `use`: what another use needs is compiled when it is called. Another version of
 * Node than the cache's compiles the script itself. Whoever requires the file, as oclif does, is given the same.
 */
function load(use) {
  const cacheFile = cacheFileOf(use)
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
