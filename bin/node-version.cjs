/** Old Node.js must be able to read this file. */
const wanted = [20, 19]

/**
 * A sentence when this Node.js is too old to run the program, else undefined. `engines` in package.json names
 * the same version.
 */
function findOldNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > wanted[0] || (major === wanted[0] && minor >= wanted[1])) return undefined
  return `identity-agent needs Node.js ${wanted.join('.')} or later, and this is ${process.version}: install a newer one, such as Node.js 24.`
}

module.exports = { findOldNode }
