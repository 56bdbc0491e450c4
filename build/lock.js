/**
 * Says in package-lock.json what npm forgets: better-sqlite3 carries its binaries (`gypfile: false` in its
 * package.json), and so `npm ci` compiles nothing. npm reads the field of an entry and does not write it.
 * `npm install` and the build run this; commit what it writes.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const file = fileURLToPath(new URL('../package-lock.json', import.meta.url))

export function keepPrebuilt() {
  const text = readFileSync(file, 'utf8')
  const lock = JSON.parse(text)
  const entry = lock.packages['node_modules/better-sqlite3']
  entry.gypfile = false
  // Node.js 20 loads another release (bin/sqlite.cjs) and needs no warning about this one.
  delete entry.engines
  const after = `${JSON.stringify(lock, null, 2)}\n`
  if (after !== text) writeFileSync(file, after)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) keepPrebuilt()
