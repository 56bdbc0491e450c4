/** Loads the bundle of the command line, with the code that V8 has made of it before (bin/code-cache.js) instead of compiling it again. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire, Module } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Script } from 'node:vm'

const file = fileURLToPath(new URL('../dist/commands.cjs', import.meta.url))
export const cacheFile = `${file}.cache`

/**
 * The bundle's exports, and the script they come of. Another version of Node than the cache's compiles the script itself.
 * Whoever requires the file, as oclif does, is given the same.
 */
export function load() {
  const script = new Script(Module.wrap(readFileSync(file, 'latin1')), {
    filename: file,
    ...(existsSync(cacheFile) && { cachedData: readFileSync(cacheFile) }),
  })
  // A script has nobody to ask for an `import()`, which modules of the newer kind need: it asks here.
  const require = Object.assign(createRequire(file), { import: (name) => import(new URL(name, pathToFileURL(file))) })
  const module = new Module(file)
  module.filename = file
  require.cache[file] = module
  script.runInThisContext()(module.exports, require, module, file, dirname(file))
  module.loaded = true
  return { script, ...module.exports }
}
