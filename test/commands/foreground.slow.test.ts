/** Process lifetimes of `agent daemon start` and its daemon, with real signals. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { Running } from '../../src/foundation/running.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/tenants.ts'

const agent = fileURLToPath(new URL('../../bin/agent.cjs', import.meta.url))

const settings = (folder: string) => ({
  ...process.env,
  HOME: folder,
  AGENT_DATA_DIR: join(folder, 'data'),
  AGENT_CONFIG_DIR: join(folder, 'config'),
  AGENT_HTTP_PORT: '0',
  AGENT_DIDCOMM_PORT: '0',
})

async function daemonIn(folder: string): Promise<Running> {
  const read = async () => {
    try {
      return Running.parse(JSON.parse(readFileSync(join(folder, 'data', 'daemon.json'), 'utf8')))
    } catch {
      return undefined
    }
  }
  const running = (await until('the start', read, (found) => found !== undefined))!
  onTestFinished(() => void isAlive(running.pid, 'SIGKILL'))
  return running
}

function isAlive(pid: number, signal: NodeJS.Signals | 0 = 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

async function launch(
  folder: string,
): Promise<{ launcher: ChildProcess; said: () => string; daemon: Running }> {
  const launcher = spawn(process.execPath, [agent, 'daemon', 'start', '--foreground'], {
    env: settings(folder),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void launcher.kill('SIGKILL'))
  let text = ''
  launcher.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const daemon = await daemonIn(folder)
  await until(
    'the daemon',
    () =>
      fetch(`${daemon.url}/_system/health`).then(
        ({ status }) => status,
        () => 0,
      ),
    (status) => status === 200,
  )
  return { launcher, said: () => text, daemon }
}

test.each(['SIGKILL', 'SIGTERM', 'SIGHUP'] as const)(
  'a launcher in the foreground that gets %s takes the daemon with it, in good order',
  async (signal) => {
    await using folder = await temporaryFolder()
    const { launcher, said, daemon } = await launch(folder.path)
    launcher.kill(signal)
    await once(launcher, 'exit')
    await until(
      'the end of the daemon',
      () => Promise.resolve(isAlive(daemon.pid)),
      (alive) => !alive,
    )
    await until(
      'its last words',
      () => Promise.resolve(said()),
      (text) => text.includes('the agent is stopping'),
    )
    // The launcher has cleaned up.
    expect(() => readFileSync(join(folder.path, 'data', 'daemon.json'))).toThrow('ENOENT')
  },
)

test('killing a foreground daemon ends its launcher with a message', async () => {
  await using folder = await temporaryFolder()
  const { launcher, said, daemon } = await launch(folder.path)
  isAlive(daemon.pid, 'SIGKILL')
  expect(await once(launcher, 'close')).toEqual([1, null])
  expect(said()).toContain('The daemon was killed by SIGKILL.')
})

test('a background daemon outlives its launcher', async () => {
  await using folder = await temporaryFolder()
  await execa(process.execPath, [agent, 'daemon', 'start'], { env: settings(folder.path), extendEnv: false })
  const daemon = await daemonIn(folder.path)
  expect((await fetch(`${daemon.url}/_system/health`)).status).toBe(200)
  isAlive(daemon.pid, 'SIGTERM')
  await until(
    'the end of the daemon',
    () => Promise.resolve(isAlive(daemon.pid)),
    (alive) => !alive,
  )
})
