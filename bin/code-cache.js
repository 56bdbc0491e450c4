/**
 * Keeps the code that V8 makes of the command line, for bin/load.cjs: most of what a command takes until it begins is compiling. V8
 * compiles a function when it is called, so some commands are run first; what they do not need would be read by every other for nothing,
 * so help, which is the most of it, has a cache of its own. Part of `npm run build`.
 */
import { fork } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { cacheFileOf, load } from './load.cjs'

/** Nobody listens on port 1. */
const lines = {
  command: [['connection', 'list', '--url', 'http://127.0.0.1:1']],
  help: [['--help'], ['credential', 'offer', '--help']],
}

const [use] = process.argv.slice(2)
if (use === undefined) {
  // A process each: what V8 has compiled it has for good.
  for (const each of Object.keys(lines)) fork(fileURLToPath(import.meta.url), [each]).on('exit', (code) => (process.exitCode ||= code))
} else {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const { script, start, commands } = load(use)
  const program = { root, pjson: JSON.parse(readFileSync(`${root}package.json`, 'utf8')), commands }
  process.stdout.write = process.stderr.write = () => true
  for (const argv of lines[use]) await start(argv, program).catch(() => undefined)
  process.exitCode = 0
  writeFileSync(cacheFileOf(use), script.createCachedData())
}
