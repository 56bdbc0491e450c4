/**
 * Keeps the code that V8 makes of the command line and of the daemon, for bin/load.cjs: most of what either takes until it begins is
 * compiling. V8 compiles a function when it is called, so some commands are run first, and a daemon is started; what the commands do not
 * need would be read by every other for nothing, so help, which is the most of it, has a cache of its own. Part of `npm run build`.
 */
import { fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFileOf, load } from './load.cjs'

/** Nobody listens on port 1. */
const lines = {
  command: [['connection', 'list', '--url', 'http://127.0.0.1:1']],
  help: [['--help'], ['credential', 'offer', '--help']],
}

/** What a process needs of the environment whatever it is; the daemon here takes no settings from whoever builds it. */
const { PATH, SystemRoot, TEMP, TMPDIR } = process.env

const [use] = process.argv.slice(2)
if (use === undefined) {
  // A process each: what V8 has compiled it has for good.
  for (const each of [...Object.keys(lines), 'daemon'])
    fork(fileURLToPath(import.meta.url), [each], { env: { PATH, SystemRoot, TEMP, TMPDIR } }).on(
      'exit',
      (code) => (process.exitCode ||= code),
    )
} else if (use === 'daemon') {
  const folder = mkdtempSync(join(tmpdir(), 'identity-agent-'))
  process.on('exit', () => rmSync(folder, { recursive: true }))
  const ports = { AGENT_HTTP_PORT: '0', AGENT_DIDCOMM_PORT: '0' }
  Object.assign(process.env, {
    AGENT_DATA_DIR: folder,
    AGENT_CONFIG_DIR: folder,
    AGENT_LOG_LEVEL: 'silent',
    NODE_ENV: 'production',
    ...ports,
  })
  // It says so when it is ready.
  process.send = () => {
    writeFileSync(cacheFileOf(use), script.createCachedData())
    process.exit()
  }
  const { script, main } = load(use)
  main()
} else {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const { script, start, commands } = load(use)
  const program = { root, pjson: JSON.parse(readFileSync(`${root}package.json`, 'utf8')), commands }
  process.stdout.write = process.stderr.write = () => true
  for (const argv of lines[use]) await start(argv, program).catch(() => undefined)
  process.exitCode = 0
  writeFileSync(cacheFileOf(use), script.createCachedData())
}
