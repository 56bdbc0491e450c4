/**
 * Loads a bundle of `dist` together with V8's compiled code of it, so that Node.js does not compile it at
 * each start.
 *
 * docs/decisions/0063-start-time.md compares it with `module.enableCompileCache()`. A bundle that is loaded
 * so cannot call `import()`.
 */
const { homedir } = require('node:os')
const { existsSync, readFileSync } = require('node:fs')
const { createRequire, Module } = require('node:module')
const { dirname, join } = require('node:path')
const { Script } = require('node:vm')

// A user without an entry in the password database and without HOME, as in a container, has no home folder.
try {
  homedir()
} catch {
  process.env.HOME = '/nonexistent'
}

/**
 * Returns the exports of a bundle and its script. `use` names the cache file, because two uses of one bundle
 * compile other functions.
 */
function load(name, use) {
  const file = join(__dirname, '../dist', name)
  const cacheFile = `${file}.${use}.cache`
  const script = new Script(Module.wrap(readFileSync(file, 'utf8')), {
    filename: file,
    // V8 rejects a cache of another version of V8.
    ...(existsSync(cacheFile) && { cachedData: readFileSync(cacheFile) }),
  })
  const module = new Module(file)
  module.filename = file
  // oclif requires the bundle by its path and gets the same exports.
  require.cache[file] = module
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file))
  module.loaded = true
  return { script, cacheFile, exports: module.exports }
}

module.exports = { load }
