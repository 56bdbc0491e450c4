/**
 * SIGTERM under load: each request gets a whole response or no connection, acknowledged changes exist after
 * the next start, and the exit code is 0. `SIGTERMS=200` sends more signals than by default.
 */
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import Koa from 'koa'
import { expect, test } from 'vitest'
import { createShutdown } from '../../daemon/middleware/shutdown.ts'
import { Daemon } from '../support/daemon.ts'
import { built } from '../support/built.ts'

const { bind, serve, stop, urlOf } = built

const rounds = Number(process.env['SIGTERMS'] ?? 5)
const clients = 24
const apiKey = 'the-tenant-of-the-test'

/**
 * The result of a request: status and body of a whole response, or the error code, and whether the connection
 * was new.
 */
type Outcome = { status: number; body: string } | { code: string; isNew: boolean }

function post(url: string, agent: Agent | false): Promise<Outcome> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', apikey: apiKey }
    const sent = request(`${url}/connections`, { method: 'POST', headers, agent }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (text: string) => (body += text))
      response.on('end', () => resolve({ status: response.statusCode!, body }))
      response.on('error', () => resolve({ code: 'CUT SHORT', isNew: false }))
    })
    sent.on('error', (error: NodeJS.ErrnoException) =>
      resolve({ code: error.code ?? error.message, isNew: !sent.reusedSocket }),
    )
    sent.end(JSON.stringify({ label: 'other' }))
  })
}

/** Sends one request after the other until one fails, into a list of outcomes. */
async function load(url: string, keepsAlive: boolean, outcomes: Outcome[]): Promise<void> {
  const agent = keepsAlive ? new Agent({ keepAlive: true, maxSockets: 1 }) : false
  for (;;) {
    const outcome = await post(url, agent)
    outcomes.push(outcome)
    if ('code' in outcome) break
  }
  if (agent) agent.destroy()
}

test(
  `of ${rounds} SIGTERMs under load none resets a request, loses what was acknowledged, or ends in another code than 0`,
  { timeout: 20_000 + rounds * 10_000 },
  async () => {
    await using daemon = await Daemon.start({ DEFAULT_WALLET_AUTH_API_KEY: apiKey })
    const failures: Record<string, number> = {}
    const acknowledged = new Set<string>()
    for (let round = 0; round < rounds; round++) {
      if (round > 0) await daemon.start()
      const outcomes: Outcome[] = []
      const loads = Array.from({ length: clients }, (_, n) => load(daemon.url, n % 2 === 0, outcomes))
      await expect.poll(() => outcomes.length).toBeGreaterThanOrEqual(clients)
      await sleep((round % 7) * 40)
      expect(await daemon.stop()).toBe(0)
      await Promise.all(loads)
      for (const outcome of outcomes) {
        if ('code' in outcome) {
          // The system resets connections in the accept queue when the port closes.
          const name = outcome.code === 'ECONNRESET' && outcome.isNew ? 'never accepted' : outcome.code
          failures[name] = (failures[name] ?? 0) + 1
        } else {
          expect(outcome.status).toBe(201)
          acknowledged.add((JSON.parse(outcome.body) as { connectionId: string }).connectionId)
        }
      }
    }
    const { ECONNREFUSED: refused = 0, 'never accepted': reset = 0, ...others } = failures
    process.stdout.write(
      `\n${rounds} SIGTERMs: ${acknowledged.size} answers, ${refused} connections refused, ${reset} never accepted\n`,
    )
    expect([others, refused + reset]).toEqual([{}, rounds * clients])
    // Clients cannot distinguish these from dropped requests, so they must be rare.
    expect(reset).toBeLessThanOrEqual((rounds * clients) / 100)
    await daemon.start()
    const known = new Set<string>()
    for (let offset = 0; ; offset += 100) {
      const { body } = await daemon.call(`GET /connections?offset=${offset}&limit=100`, { apiKey })
      for (const { connectionId } of body.contents) known.add(connectionId)
      if (body.contents.length < 100) break
    }
    // Every stored connection was acknowledged: a reset request was never accepted.
    expect(known).toEqual(acknowledged)
    expect(acknowledged.size).toBeGreaterThanOrEqual(rounds * clients)
  },
)

test('a second signal ends the daemon at once', async () => {
  await using daemon = await Daemon.start({ DEFAULT_WALLET_AUTH_API_KEY: apiKey })
  // A request that never ends.
  const { hostname, port } = new URL(daemon.url)
  const stuck = request({
    hostname,
    port,
    method: 'POST',
    path: '/connections',
    headers: { apikey: apiKey, 'content-length': 100, expect: '100-continue' },
  })
  stuck.on('error', () => undefined)
  stuck.flushHeaders()
  // The daemon has the request, and then has handled the signal: it accepts no connections any more.
  await once(stuck, 'continue')
  const first = daemon.stop()
  const isRefused = () =>
    fetch(daemon.url).then(
      () => false,
      () => true,
    )
  await expect.poll(isRefused).toBe(true)
  expect([await daemon.stop(), await first]).toEqual([1, 1])
})

test('a stopping server answers the requests that it has accepted, and each response closes its connection', async () => {
  const server = await bind('127.0.0.1', 0, 'AGENT_HTTP_PORT')
  const shutdown = createShutdown()
  let end = () => {}
  const app = new Koa().use(shutdown.middleware).use(async (ctx) => {
    if (ctx.path === '/slow') await new Promise<void>((resolve) => (end = resolve))
    ctx.body = ctx.path
  })
  serve(server, app.callback())
  const url = urlOf(server, '127.0.0.1')
  const agents = [
    new Agent({ keepAlive: true, maxSockets: 1 }),
    new Agent({ keepAlive: true, maxSockets: 1 }),
  ]
  const get = (path: string, agent: Agent) =>
    new Promise<string[]>((resolve, reject) => {
      request(url + path, { agent }, (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (text: string) => (body += text))
        response.on('end', () => resolve([body, response.headers.connection!]))
      })
        .on('error', reject)
        .end()
    })
  expect(await get('/quick', agents[1]!)).toEqual(['/quick', 'keep-alive'])
  const slow = get('/slow', agents[0]!)
  await once(server, 'request')
  const quiet = shutdown.begin()
  const quick = get('/quick', agents[1]!)
  await once(server, 'request')
  await quiet
  const stopped = stop(server)
  shutdown.release()
  expect(await quick).toEqual(['/quick', 'close'])
  await expect(get('/quick', new Agent())).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  end()
  expect(await slow).toEqual(['/slow', 'close'])
  await stopped
})

test('while the port is about to close, a 503 is sent at once and every other answer is held', async () => {
  const shutdown = createShutdown()
  const app = new Koa()
  app.use(shutdown.middleware)
  app.use((ctx) => {
    ctx.status = ctx.path === '/ready' ? 503 : 200
    ctx.body = 'answered'
  })
  const server = await bind('127.0.0.1', 0, '')
  serve(server, app.callback())
  const begun = shutdown.begin()
  let isHeld = true
  const other = fetch(`${urlOf(server, '127.0.0.1')}/other`).finally(() => (isHeld = false))
  const ready = await fetch(`${urlOf(server, '127.0.0.1')}/ready`)
  expect([ready.status, ready.headers.get('connection')]).toEqual([503, 'close'])
  await begun
  expect(isHeld).toBe(true)
  shutdown.release()
  expect((await other).status).toBe(200)
  await stop(server)
})
