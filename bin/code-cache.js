/**
 * Keeps the code that V8 makes of the command line, for bin/load.js: most of what a command takes until it begins is compiling. V8
 * compiles a function when it is called, so some commands are run first. Part of `npm run build`.
 */
import { writeFileSync } from 'node:fs'
import { cacheFile, load } from './load.js'

const commands = [['--help'], ['credential', 'offer', '--help'], ['connection', 'list', '--url', 'http://127.0.0.1:1']]

const { script, run } = load()
process.stdout.write = process.stderr.write = () => true
// Nobody listens on port 1.
for (const argv of commands) await run(argv, import.meta.url).catch(() => undefined)
process.exitCode = 0
writeFileSync(cacheFile, script.createCachedData())
