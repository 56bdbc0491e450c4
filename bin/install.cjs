/**
 * npm runs this after it has installed the package, or the dependencies of a clone, and so does the build,
 * for who has told npm to run no scripts.
 */
const { findOldNode } = require('./node-version.cjs')

function main() {
  const old = findOldNode()
  if (old) throw new Error(old)
  require('./sqlite.cjs').provideSqlite()
  const { existsSync } = require('node:fs')
  const { join } = require('node:path')
  // `npm run build` does it in a clone.
  if (existsSync(join(__dirname, '..', 'src'))) return
  // V8's compiled code is for one version of V8. Without it the program starts more slowly, which is no
  // reason to fail.
  require('node:child_process').spawnSync(process.execPath, [join(__dirname, 'code-cache.js')], {
    stdio: 'ignore',
  })
}

try {
  main()
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
