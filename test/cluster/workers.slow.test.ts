/** Worker processes over one data folder: `AGENT_WORKERS`. */
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mergeMetrics } from '../../daemon/nodes/metrics.ts'
import { workerOf } from '../../src/cluster/worker-ownership.ts'
import { openSqlite } from '../../src/foundation/storage/sqlite.ts'
import { adminToken } from '../support/api.ts'
import { sharedAgent } from '../support/agent.ts'
import { Daemon } from '../support/daemon.ts'
import { newFolder } from '../support/folder.ts'
import { connect, issue, newDid, until, type Tenant } from '../support/tenants.ts'
import { verify } from '../operations/backup/_backup.ts'
import { exportFrom, passphrase } from '../operations/wallet-export/_transfer.ts'
import { isAlive, workersOf } from './_workers.ts'

const count = 2
let daemon: Daemon
beforeAll(async () => void (daemon = await Daemon.start({ AGENT_WORKERS: String(count) })))
afterAll(() => daemon[Symbol.asyncDispose]())

/** A tenant of each worker. */
async function tenantsOfAll(): Promise<Tenant[]> {
  const found: Tenant[] = []
  while (found.filter(Boolean).length < count) {
    const tenant = await daemon.newTenant('tenant')
    found[workerOf(tenant.walletId, count)] ??= tenant
  }
  return found
}

type Sent = { method?: string; headers: Record<string, string>; agent?: Agent; body?: Uint8Array | string }

/** Sends a request on a connection of its own, or that of an agent. */
async function send(path: string, { method = 'GET', headers, agent, body }: Sent) {
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    const sent = request(`${daemon.url}${path}`, { method, headers, agent: agent ?? false })
    sent.once('response', resolve).once('error', reject).end(body)
  })
  return { status: response.statusCode, body: await text(response) }
}

test('a flow between wallets of two workers', async () => {
  const [issuer, holder] = (await tenantsOfAll()) as [Tenant, Tenant]
  const { inviterConnectionId } = await connect(issuer, holder)
  const { did } = await newDid(issuer, 'assertionMethod')
  const { longFormDid } = await newDid(holder, 'authentication')
  const { credential } = await issue(issuer, holder, inviterConnectionId, did, longFormDid)
  expect(credential).toMatch(/^ey/)
  // Each request has a connection of its own, so that some reach the worker that does not own the wallet.
  for (let each = 0; each < 4; each++)
    for (const { apiKey } of [issuer, holder])
      expect(await send('/connections', { headers: { apikey: apiKey } })).toMatchObject({ status: 200 })
})

test('a worker that is killed is started again, and nothing acknowledged is lost', async () => {
  const tenants = await tenantsOfAll()
  const before = await workersOf(daemon)
  expect(before).toHaveLength(count)
  const made = new Set<string>()
  const work = { isOver: false }
  const working = tenants.map(async ({ call }) => {
    while (!work.isOver) {
      await call('POST /connections', { body: { label: 'label' } }).then(
        ({ connectionId }) => made.add(connectionId),
        () => undefined,
      )
      await sleep(10)
    }
  })
  for (const pid of before) {
    process.kill(pid, 'SIGKILL')
    const had = made.size
    await until(
      'a new worker',
      () => workersOf(daemon),
      (pids) => pids.length === count && !pids.includes(pid),
    )
    await until(
      'more connections',
      () => Promise.resolve(made.size),
      (size) => size > had + 20,
    )
  }
  work.isOver = true
  await Promise.all(working)
  const stored = new Set<string>()
  for (const { call } of tenants)
    for (let offset = 0; ; offset += 1_000) {
      const { contents } = await call('GET /connections', { query: { offset, limit: 1_000 } })
      for (const { connectionId } of contents) stored.add(connectionId)
      if (contents.length < 1_000) break
    }
  expect([...made].filter((id) => !stored.has(id))).toEqual([])
})

test('a backup has the wallets of all workers as they were at one instant', async () => {
  const [sender, receiver] = (await tenantsOfAll()) as [Tenant, Tenant]
  const { inviterConnectionId: connectionId } = await connect(sender, receiver)
  const work = { isOver: false, sent: 0 }
  const working = (async () => {
    for (; !work.isOver; work.sent++) {
      await sender.call('POST /messages', { body: { connectionId, content: String(work.sent) } })
      await sleep(10)
    }
  })()
  const folder = newFolder()
  const readMessages = (name: string, { walletId }: Tenant, condition: string) => {
    const database = openSqlite(join(folder, name, 'wallets', `${walletId}.db`), { readonly: true })
    const rows = database.prepare(`select content from message where ${condition}`).pluck().all() as string[]
    database.close()
    return rows
  }
  for (const name of ['first', 'second', 'third']) {
    const had = work.sent
    await until(
      'messages',
      () => Promise.resolve(work.sent),
      (sent) => sent > had + 20,
    )
    await daemon.admin('POST /_system/backups', { body: { folder: join(folder, name) } })
    expect(await verify(join(folder, name), daemon.dataDir)).toMatchObject({ masterKey: 'opens', faults: [] })
    const sent = readMessages(name, sender, "direction = 'sent'")
    const delivered = readMessages(name, sender, "direction = 'sent' and sent_at is not null")
    const received = readMessages(name, receiver, "direction = 'received'")
    expect(received.filter((each) => !sent.includes(each))).toEqual([])
    expect(delivered.filter((each) => !received.includes(each))).toEqual([])
    expect(received.length).toBeGreaterThan(5)
  }
  work.isOver = true
  await working
})

test('a wallet is imported by the worker that owns it, whichever the request reaches', async () => {
  const source = await sharedAgent()
  for (let each = 0; each < 4; each++) {
    const { walletId } = await source.newTenant()
    const bytes = await exportFrom(source, walletId, { move: true })
    const headers = {
      'x-admin-api-key': adminToken,
      'content-type': 'application/octet-stream',
      'x-passphrase': Buffer.from(passphrase).toString('base64url'),
    }
    const imported = await send('/wallets/import', { method: 'POST', headers, body: bytes })
    expect(imported, imported.body).toMatchObject({ status: 201 })
    const wallet = await send(`/wallets/${walletId}`, { headers: { 'x-admin-api-key': adminToken } })
    expect(wallet).toMatchObject({ status: 200 })
  }
})

test('a key that is revoked at one worker is refused by the other', async () => {
  const [{ apiKey, entityId }] = (await tenantsOfAll()) as [Tenant]
  // Connections go to the workers by turns.
  const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  const statuses = () =>
    Promise.all(
      agents.map(
        async (agent) => (await send('/connections', { headers: { apikey: apiKey }, agent })).status,
      ),
    )
  expect(await statuses()).toEqual([200, 200, 200, 200])
  await daemon.admin('DELETE /iam/apikey-authentication', { body: { entityId, apiKey } })
  await until('refusals', statuses, (all) => all.every((status) => status === 401))
  for (const agent of agents) agent.destroy()
})

test('the administrator’s stream has the events of the wallets of all workers, and ends when one of them ends', async () => {
  const tenants = await tenantsOfAll()
  const response = await fetch(`${daemon.url}/events/stream`, { headers: { 'x-admin-api-key': adminToken } })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  let streamed = ''
  const ended = (async () => {
    for await (const chunk of response.body!) streamed += Buffer.from(chunk).toString()
  })().catch(() => undefined)
  const thids: string[] = []
  for (let each = 0; each < 5; each++)
    for (const { call } of tenants)
      thids.push((await call('POST /connections', { body: { label: 'label' } })).thid)
  const events = () =>
    streamed
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice(6)))
  await until(
    'all events',
    () => Promise.resolve(events().length),
    (length) => length >= thids.length,
  )
  expect(
    events()
      .map(({ data }) => String(data.thid))
      .toSorted(),
  ).toEqual(thids.toSorted())
  const [pid] = await workersOf(daemon)
  process.kill(pid!, 'SIGKILL')
  await ended
  await until(
    'a new worker',
    () => workersOf(daemon),
    (pids) => pids.length === count && !pids.includes(pid!),
  )
})

test('a scrape has the metrics of all workers, each metric once', async () => {
  const scrape = async () => (await send('/_system/metrics', { headers: {} })).body
  const workersIn = (text: string) => new Set(text.match(/worker="[^"]+"/g))
  await until(
    'metrics of all workers',
    async () => workersIn(await scrape()).size,
    (size) => size === count,
  )
  const body = await scrape()
  const helped = body.split('\n').filter((line) => line.startsWith('# HELP'))
  expect(new Set(helped).size).toBe(helped.length)
  expect(mergeMetrics(['# HELP a x\n# TYPE a gauge\na 1\n', '# HELP a x\n# TYPE a gauge\na 2\n'])).toBe(
    '# HELP a x\n# TYPE a gauge\na 1\na 2\n',
  )
})

test('the workers end with the daemon: when it is stopped, and when it is killed', async () => {
  await using own = await Daemon.start({ AGENT_WORKERS: '3' })
  const first = await workersOf(own)
  expect(first).toHaveLength(3)
  expect(await own.stop()).toBe(0)
  expect(first.filter(isAlive)).toEqual([])
  await own.start()
  const second = await workersOf(own)
  await own.stop('SIGKILL')
  await until(
    'no workers',
    () => Promise.resolve(second.filter(isAlive)),
    (alive) => alive.length === 0,
  )
  await own.start()
  expect(await workersOf(own)).toHaveLength(3)
})

test.each([
  [{ AGENT_WORKERS: '0' }, 'AGENT_WORKERS'],
  [{ AGENT_WORKERS: '65' }, 'AGENT_WORKERS'],
  [{ AGENT_WORKERS: '2', AGENT_DATABASE_URL: 'postgres://a@localhost/b' }, 'start a node for each core'],
])('a start with %j is refused', async (env, reason) => {
  await expect(Daemon.start(env)).rejects.toThrow(reason)
})

test('a port that is in use is named before a worker starts', async () => {
  const port = new URL(daemon.url).port
  await expect(Daemon.start({ AGENT_WORKERS: '2', AGENT_HTTP_PORT: port })).rejects.toThrow(`Port ${port} of`)
})
