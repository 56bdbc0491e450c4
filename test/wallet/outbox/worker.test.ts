/** The worker with real servers: jobs run in order, and undeliverable ones delay no others. */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { steadyNow } from '../../../src/foundation/clock.ts'
import { openLog } from '../../../src/foundation/log.ts'
import { createWorker } from '../../../src/exchange/create-worker.ts'
import { WebhookSlots } from '../../../src/wallet/events/webhook-slots.ts'
import { appendEvent, type Event, type EventType } from '../../../src/wallet/events/event.ts'
import { enqueue, type Job } from '../../../src/wallet/outbox/job.ts'
import { Worker, type WorkedWallet } from '../../../src/wallet/outbox/worker.ts'
import { databaseUnavailable } from '../../../src/foundation/storage/postgres/errors.ts'
import type { Wallets } from '../../../src/wallet/wallets.ts'
import { connect, until, type Tenant } from '../../support/tenants.ts'
import { openParty } from '../../support/party.ts'
import { openReceiver } from '../../support/receiver.ts'
import { startAgent, startPair } from '../../support/agent-from-sources.ts'
import { announce, use } from '../../support/announce.ts'
import { temporaryWalletDb } from '../../support/wallet-db.ts'
import { countPolls } from './_polls.ts'

const silent = openLog('silent')

const publication = { kind: 'task', protocol: 'did-registrar', recordId: 'x', task: 'publish DID' } as const
const listen = ({ call }: Tenant, url: string) => call('POST /events/webhooks', { body: { url } })
const eventOf = (body: string) => JSON.parse(body) as Event
const stateOf = (body: string) => eventOf(body).data.state

test('a webhook gets its events sequentially and in order', async () => {
  await using agent = await startAgent()
  let underWay = 0
  const most: number[] = []
  await using receiver = await openReceiver((response) => {
    most.push(++underWay)
    setImmediate(() => {
      underWay--
      response.end()
    })
  })
  const tenant = await agent.newTenant()
  await listen(tenant, receiver.url)
  await announce(agent, tenant, 30)
  await receiver.arrived(30)
  expect(receiver.bodies.map(stateOf)).toEqual(Array.from({ length: 30 }, (_, n) => n + 1))
  expect(Math.max(...most)).toBe(1)
})

test('a webhook that is deleted during a delivery gets none of the events that follow', async () => {
  await using agent = await startAgent()
  const responses: ServerResponse[] = []
  await using deleted = await openReceiver((response) => responses.push(response))
  await using other = await openReceiver()
  const tenant = await agent.newTenant()
  const { id } = await listen(tenant, deleted.url)
  await announce(agent, tenant, 5)
  await deleted.arrived(1)
  await tenant.call('DELETE /events/webhooks/{id}', { path: { id } })
  await listen(tenant, other.url)
  responses[0]!.end()
  await announce(agent, tenant, 3)
  await other.arrived(3)
  expect(deleted.bodies.map(stateOf)).toEqual([1])
  expect(other.bodies.map(stateOf)).toEqual([1, 2, 3])
})

test('a webhook that never answers delays neither other webhooks nor messages', async () => {
  await using pair = await startPair()
  await using mute = await openReceiver(() => undefined)
  await using live = await openReceiver()
  await listen(pair.issuer, mute.url)
  await listen(pair.issuer, live.url)
  await connect(pair.issuer, pair.holder)
  await until(
    'all events',
    () => Promise.resolve(live.bodies.map(stateOf)),
    (states) => states.includes('ConnectionResponseSent'),
  )
  expect(mute.bodies.map(stateOf)).toEqual(['InvitationGenerated'])
})

test('more unresponsive webhooks than slots do not delay others, even before their first time-out', async () => {
  await using agent = await startAgent()
  await agent.agent.worker[Symbol.asyncDispose]()
  await using mute = await openReceiver(() => undefined)
  await using live = await openReceiver()
  const tenants = [await agent.newTenant(), await agent.newTenant(), await agent.newTenant()]
  for (const tenant of tenants) {
    await listen(tenant, mute.url)
    await announce(agent, tenant, 1)
  }
  const tenant = await agent.newTenant()
  await listen(tenant, live.url)
  await announce(agent, tenant, 3)
  const slots = new WebhookSlots({ prompt: 2, slow: 2, promptMs: 30 })
  await using worker = createWorker(agent.agent.config, agent.agent.wallets, silent, { slots })
  for (const { walletId } of tenants) worker.wake(walletId)
  await mute.arrived(2)
  worker.wake(tenant.walletId)
  await live.arrived(3)
  const ended = await Promise.all(
    tenants.map((tenant) =>
      use(agent, tenant, ({ db }) => db.selectFrom('delivery_attempt').selectAll().execute()),
    ),
  )
  expect(ended.flat()).toEqual([])
})

test('a tenant with undeliverable messages does not delay the messages of others', async () => {
  await using pair = await startPair()
  await using mute = await openReceiver(() => undefined)
  const flooder = await pair.agent.newTenant('flooder')
  await using party = await openParty({ uris: () => [mute.url] })
  await party.connect(flooder, 'ConnectionResponsePending')
  await use(pair.agent, flooder, async (wallet) => {
    const { body } = await wallet.db.selectFrom('job').select('body').executeTakeFirstOrThrow()
    await wallet.transaction(async (tx) => {
      for (let n = 0; n < 300; n++) await enqueue(tx, `record:${randomUUID()}`, JSON.parse(body))
    })
  })
  await mute.arrived(10)
  await connect(pair.issuer, pair.holder)
  expect(mute.bodies.length).toBeLessThan(100)
  expect(party.envelopes).toEqual([])
})

test('an unreadable event delays no message', async () => {
  await using pair = await startPair()
  await using receiver = await openReceiver()
  await listen(pair.issuer, receiver.url)
  await use(pair.agent, pair.issuer, (wallet) =>
    wallet.transaction((tx) =>
      appendEvent(tx, { type: 'NoSuchType' as EventType, subject: 'a thread', data: {} }),
    ),
  )
  await connect(pair.issuer, pair.holder)
})

test('a wallet that cannot be opened delays no other', async () => {
  await using pair = await startPair()
  const { agent } = pair.agent
  await agent.db
    .insertInto('wallet')
    .values({
      id: randomUUID(),
      number: 1_000_000,
      name: 'broken',
      wrapped_key: 'AAAA',
      seed_digest: 'x',
      created_at: '',
      updated_at: '',
    })
    .execute()
  await agent.worker.resume()
  await connect(pair.issuer, pair.holder)
})

test('nothing is sent once the worker has stopped', async () => {
  await using agent = await startAgent()
  await using receiver = await openReceiver()
  const tenant = await agent.newTenant()
  await listen(tenant, receiver.url)
  await announce(agent, tenant, 3)
  await agent.agent.worker[Symbol.asyncDispose]()
  const before = receiver.bodies.length
  agent.agent.worker.wake(tenant.walletId)
  for (let turns = 0; turns < 200; turns++) await turn()
  await fetch(receiver.url, { method: 'POST', body: 'the test itself' })
  expect(receiver.bodies.length).toBe(before + 1)
})

test('jobs that are pending at a stop run after the next start', async () => {
  await using agent = await startAgent({ AGENT_OPEN_WALLETS: '2' })
  await using receiver = await openReceiver()
  await agent.agent.worker[Symbol.asyncDispose]()
  const tenants = []
  for (let n = 0; n < 4; n++) {
    const tenant = await agent.newTenant()
    await listen(tenant, receiver.url)
    await announce(agent, tenant, 2)
    tenants.push(tenant)
  }
  await using worker = createWorker(agent.agent.config, agent.agent.wallets, silent)
  await worker.resume()
  await receiver.arrived(8)
  const arrived = receiver.bodies.map(eventOf)
  expect(arrived).toHaveLength(8)
  for (const { walletId } of tenants) {
    expect(arrived.filter((event) => event.walletId === walletId).map(({ data }) => data.state)).toEqual([
      1, 2,
    ])
  }
})

test('a start opens a few wallets at a time, however many there are', async () => {
  const ids = Array.from({ length: 200 }, () => randomUUID())
  let [open, most] = [0, 0]
  const seen = new Set<string>()
  const wallets = {
    ids: () => Promise.resolve(ids),
    async use(id: string) {
      most = Math.max(most, ++open)
      await turn()
      seen.add(id)
      open--
    },
  } as unknown as Wallets
  await using worker = createWorker({ FLOW_EXPIRY: 60 }, wallets, silent)
  await worker.resume()
  await until(
    'two hundred polls',
    () => Promise.resolve(seen.size),
    (size) => size === 200,
  )
  expect(most).toBeLessThanOrEqual(16)
})

test('wallets that were gained while the database is away are polled when it is back', async () => {
  const outcomes = [databaseUnavailable(), databaseUnavailable()]
  const seen: string[] = []
  const wallets = {
    ids: async () => {
      const fault = outcomes.pop()
      if (fault) throw fault
      return ['w']
    },
    use: (id: string) => Promise.resolve(void seen.push(id)),
  } as unknown as Wallets
  await using worker = createWorker({ FLOW_EXPIRY: 60 }, wallets, silent)
  await worker.resume()
  await until(
    'a poll',
    () => Promise.resolve(seen.length),
    (length) => length > 0,
  )
  expect(outcomes).toEqual([])
})

test('a stop does not wait for an unresponsive peer, and keeps its job', async () => {
  await using agent = await startAgent()
  await using receiver = await openReceiver(() => undefined)
  const tenant = await agent.newTenant()
  await listen(tenant, receiver.url)
  await announce(agent, tenant, 1)
  await receiver.arrived(1)
  await agent.agent.worker[Symbol.asyncDispose]()
  const rows = await use(agent, tenant, ({ db }) =>
    db.selectFrom('webhook').select(['cursor', 'attempts']).execute(),
  )
  expect(rows).toEqual([{ cursor: 0, attempts: 0 }])
})

test('a job that is due in months is neither polled constantly nor forgotten', async () => {
  await using agent = await startAgent()
  const tenant = await agent.newTenant()
  await use(agent, tenant, (wallet) =>
    wallet.transaction(async (tx) => {
      await enqueue(tx, 'did:x', publication)
      await tx
        .updateTable('job')
        .set({ due_at: new Date(Date.now() + 40 * 86_400_000).toISOString() })
        .execute()
    }),
  )
  const { counting, polls } = countPolls(agent.agent.wallets)
  await using worker = createWorker(agent.agent.config, counting, silent)
  worker.wake(tenant.walletId)
  await until(
    'a poll',
    () => Promise.resolve(polls()),
    (count) => count > 0,
  )
  const { walletId } = await agent.newTenant('another one, which takes its time')
  expect([walletId.length, polls()]).toEqual([36, 1])
  expect(worker.busy(), 'the timer is set').toEqual([tenant.walletId])
})

test('a job that becomes due during a poll runs after it', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await db.transaction().execute(async (tx) => {
    await enqueue(tx, 'a', { kind: 'task', protocol: 'p', recordId: 'r', task: 't' })
    const due_at = new Date(steadyNow() + 50).toISOString()
    await tx.updateTable('job').set({ due_at }).execute()
  })
  const processed: string[] = []
  const worked: WorkedWallet = {
    id: 'w',
    db,
    transaction: (write) => db.transaction().execute(write),
  }
  const wallets = {
    ids: () => Promise.resolve([worked.id]),
    async use<T>(_: string, work: (opened: WorkedWallet) => Promise<T>): Promise<T> {
      const result = await work(worked)
      // A busy process: the poll ends after the job is due.
      await sleep(100)
      return result
    },
  }
  const handlers = {
    async job(_: unknown, { id }: Job) {
      processed.push(id)
      await db.deleteFrom('job').where('id', '=', id).execute()
    },
    deliver: () => Promise.reject(new Error('no delivery')),
    findExpired: () => Promise.resolve({ expired: [] }),
    expire: () => Promise.resolve(),
    flowLifetimeMs: 3_600_000,
  }
  await using worker = new Worker(wallets, handlers, silent)
  worker.wake('w', ['jobs'])
  await until(
    'the job',
    () => Promise.resolve(processed.length),
    (count) => count === 1,
  )
})

test('a wallet at its job limit is not polled because another job is due', async () => {
  await using pair = await startPair()
  await pair.agent.agent.worker[Symbol.asyncDispose]()
  const { counting, polls } = countPolls(pair.agent.agent.wallets)
  await using worker = createWorker(pair.agent.agent.config, counting, silent)
  // Four servers, because each gets at most sixteen messages concurrently.
  await using one = await openReceiver(() => undefined)
  await using two = await openReceiver(() => undefined)
  await using three = await openReceiver(() => undefined)
  await using four = await openReceiver(() => undefined)
  const servers = [one, two, three, four]
  const flooder = await pair.agent.newTenant('flooder')
  for (const { url } of servers) {
    await using party = await openParty({ uris: () => [url] })
    await party.connect(flooder, 'ConnectionResponsePending')
  }
  await use(pair.agent, flooder, async (wallet) => {
    const pending = await wallet.db.selectFrom('job').select('body').execute()
    await wallet.transaction(async (tx) => {
      // With one job in each queue of the four connections the wallet is at its limit.
      for (let n = 0; n < 44; n++)
        await enqueue(tx, `record:${randomUUID()}`, JSON.parse(pending[n % 4]!.body))
      await enqueue(tx, 'did:x', publication)
      const due_at = new Date(Date.now() + 500).toISOString()
      await tx.updateTable('job').set({ due_at }).where('queue', '=', 'did:x').execute()
    })
  })
  worker.wake(flooder.walletId)
  await until(
    'the maximum of concurrent requests',
    () => Promise.resolve(servers.reduce((sum, { bodies }) => sum + bodies.length, 0)),
    (count) => count === 48,
  )
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  // One poll per running job and a few before; polling each millisecond would be hundreds.
  expect(polls()).toBeLessThan(60)
})

test('a failed event is retried five seconds later with the same id, before the next event', async () => {
  await using agent = await startAgent()
  const times: number[] = []
  await using receiver = await openReceiver((response, count) => {
    times.push(performance.now())
    response.statusCode = count === 1 ? 500 : 204
    response.end()
  })
  const tenant = await agent.newTenant()
  await listen(tenant, receiver.url)
  await announce(agent, tenant, 2)
  await receiver.arrived(3)
  expect(receiver.bodies.map(stateOf)).toEqual([1, 1, 2])
  expect(eventOf(receiver.bodies[0]!)).toEqual(eventOf(receiver.bodies[1]!))
  // The delay between attempts is five seconds or more.
  expect(times[1]! - times[0]!).toBeGreaterThan(4_900)
})
