/**
 * Writes the caches that bin/load.cjs reads. V8 compiles a function at its first call, so each process here
 * runs what a start runs: a command, help, or a daemon until it is ready. Part of `npm run build`.
 */
import { fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { load } from './load.cjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Command lines that compile the common functions. No process listens on port 1. */
const commandLines = {
  command: [['connection', 'list', '--url', 'http://127.0.0.1:1']],
  help: [['--help'], ['credential', 'offer', '--help']],
}

async function runCommands(use) {
  const { script, cacheFile, exports } = load('commands.cjs', use)
  const pjson = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  process.stdout.write = process.stderr.write = () => true
  for (const argv of commandLines[use])
    await exports.start(argv, { root, pjson, commands: exports.commands }).catch(() => undefined)
  process.exitCode = 0
  writeFileSync(cacheFile, script.createCachedData())
}

function runDaemon() {
  const folder = mkdtempSync(join(tmpdir(), 'identity-agent-'))
  process.on('exit', () => rmSync(folder, { recursive: true }))
  Object.assign(process.env, {
    AGENT_DATA_DIR: folder,
    AGENT_CONFIG_DIR: folder,
    AGENT_HTTP_PORT: '0',
    AGENT_DIDCOMM_PORT: '0',
    AGENT_LOG_LEVEL: 'silent',
  })
  const { script, cacheFile, exports } = load('daemon/agent.cjs', 'daemon')
  // The daemon sends `ready` to its parent.
  process.send = () => {
    writeFileSync(cacheFile, script.createCachedData())
    process.exit()
  }
  exports.main()
}

const [use] = process.argv.slice(2)
if (use === 'daemon') runDaemon()
else if (use !== undefined) await runCommands(use)
else {
  // The settings of the person who builds must not reach the daemon.
  const { PATH, SystemRoot, TEMP, TMPDIR } = process.env
  for (const each of ['command', 'help', 'daemon'])
    fork(fileURLToPath(import.meta.url), [each], { env: { PATH, SystemRoot, TEMP, TMPDIR } }).on(
      'exit',
      (code) => (process.exitCode ||= code),
    )
}
