/**
 * A worker that is stopped by itself: the others take the connections, and no request is lost. And the end of
 * the daemon while one of its workers loads, or answers nothing.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { adminToken } from '../support/api.ts'
import { Daemon, thisProgram } from '../support/daemon.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until, type Tenant } from '../support/tenants.ts'
import { isAlive, workersOf } from './_workers.ts'

let daemon: Daemon
beforeAll(async () => void (daemon = await Daemon.start({ AGENT_WORKERS: '2' })))
afterAll(() => daemon[Symbol.asyncDispose]())

/**
 * How a request on a connection of its own ends. A wallet whose worker does not run for six seconds is
 * answered with 503.
 */
async function outcome({ apiKey }: Tenant, method: string): Promise<string> {
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { apikey: apiKey, 'content-type': 'application/json' }
      const sent = request(`${daemon.url}/connections`, { method, headers, agent: false })
      sent.once('response', resolve).once('error', reject)
      sent.end(method === 'POST' ? JSON.stringify({ label: 'label' }) : undefined)
    })
    response.resume()
    const { statusCode: status, headers } = response
    return status === 200 || status === 201 || headers['retry-after'] ? 'answered' : `status ${status}`
  } catch (error) {
    return String(error)
  }
}

test('clients of a daemon see no difference when one of its workers is stopped', async () => {
  const tenants = await Promise.all(Array.from({ length: 8 }, () => daemon.newTenant('tenant')))
  const outcomes: string[] = []
  const work = { isOver: false }
  const working = tenants.map(async (tenant, index) => {
    while (!work.isOver) {
      outcomes.push(await outcome(tenant, index % 2 === 0 ? 'GET' : 'POST'))
      await sleep(20)
    }
  })
  for (const pid of await workersOf(daemon)) {
    process.kill(pid, 'SIGTERM')
    await until(
      'a new worker',
      () => workersOf(daemon),
      (pids) => pids.length === 2 && !pids.includes(pid),
    )
    const had = outcomes.length
    await until(
      'more answers',
      () => Promise.resolve(outcomes.length),
      (count) => count > had + 50,
    )
  }
  work.isOver = true
  await Promise.all(working)
  expect(outcomes.filter((each) => each !== 'answered')).toEqual([])
})

test('a worker that is told to stop while its process loads ends, since no message is lost', async () => {
  await using folder = await temporaryFolder()
  const env = { AGENT_DATA_DIR: folder.path, AGENT_CONFIG_DIR: folder.path, ADMIN_TOKEN: adminToken }
  const worker = fork(join(dirname(thisProgram), 'worker.cjs'), { env, stdio: 'ignore' })
  const start = { type: 'start', index: 0, count: 2, startsAlone: true, ports: { rest: 1, didcomm: 2 } }
  for (const message of [start, { type: 'workers', workers: [] }, { type: 'stop' }]) worker.send(message)
  expect(await once(worker, 'exit')).toEqual([0, null])
})

test('SIGTERM ends a daemon with a worker that answers nothing', async () => {
  await using own = await Daemon.start({ AGENT_WORKERS: '2' })
  const [paused] = await workersOf(own)
  process.kill(paused!, 'SIGSTOP')
  process.kill(own.pid, 'SIGTERM')
  const { exitCode, stderr } = (await own.ended)!
  expect(exitCode, stderr).toBe(0)
  expect(stderr).toContain('a worker did not end')
  await until(
    'the end of the worker',
    () => Promise.resolve(isAlive(paused!)),
    (alive) => !alive,
  )
})
