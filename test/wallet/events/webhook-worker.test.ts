/** Webhooks with real receivers: requests, accepted statuses, and retries. */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { openLog } from '../../../src/foundation/log.ts'
import { createWorker } from '../../../src/exchange/create-worker.ts'
import { appendEvent, type Event, type EventType } from '../../../src/wallet/events/event.ts'
import { dueDeliveries, fail } from '../../../src/wallet/events/deliveries.ts'
import { CustomHeaders } from '../../../src/wallet/events/webhook.ts'
import { until, type Tenant } from '../../support/tenants.ts'
import { openReceiver, type Receiver } from '../../support/receiver.ts'
import { startAgent, type TestAgent } from '../../support/agent-from-sources.ts'
import { announce, use } from '../../support/announce.ts'
import { rewriteRows } from '../../support/rewrite-rows.ts'
import { untilEnd } from '../../support/shared.ts'

const agent = await untilEnd(startAgent())

const add = async (
  { call }: Tenant,
  url: string,
  body: {
    signed?: boolean
    customHeaders?: Record<string, string>
    batch?: number
    types?: EventType[]
  } = {},
) => call('POST /events/webhooks', { body: { url, ...body } })
const eventOf = (body: string) => JSON.parse(body) as Event
const statesOf = ({ bodies }: Receiver) => bodies.map((body) => eventOf(body).data.state)
const replay = (
  { call }: Tenant,
  id: string,
  body: { eventId: string } | { since: string } | { failed: true },
) => call('POST /events/webhooks/{id}/replay', { path: { id }, body })
const attempts = async ({ call }: Tenant, id: string, count: number) =>
  until(
    `${count} attempts`,
    async () => (await call('GET /events/webhooks/{id}/deliveries', { path: { id } })).contents,
    ({ length }) => length >= count,
  )

/** Makes the next attempt at a webhook due. */
async function retryNow(tenant: Tenant, id: string): Promise<void> {
  const due_at = new Date(0).toISOString()
  await use(agent, tenant, (wallet) =>
    rewriteRows(wallet, (tx) => tx.updateTable('webhook').set({ due_at }).where('id', '=', id).execute()),
  )
  agent.agent.worker.wake(tenant.walletId)
}

test('the reference verifier accepts signed requests, with each of two secrets after a rotation', async () => {
  await using receiver = await openReceiver()
  const tenant = await agent.newTenant()
  const { id, secret: first } = await add(tenant, receiver.url, {
    signed: true,
    customHeaders: { authorization: 'Bearer x' },
  })
  await announce(agent, tenant, 1)
  await receiver.arrived(1)
  const { secret: second } = await tenant.call('POST /events/webhooks/{id}/secret', { path: { id } })
  await announce(agent, tenant, 1)
  await receiver.arrived(2)
  await tenant.call('DELETE /events/webhooks/{id}/secret', { path: { id } })
  await announce(agent, tenant, 1)
  await receiver.arrived(3)
  const verify = (n: number, secret: string) =>
    new Webhook(secret).verify(receiver.bodies[n]!, receiver.requests[n]!.headers as Record<string, string>)
  expect(verify(0, first!)).toEqual(eventOf(receiver.bodies[0]!))
  expect([verify(1, first!), verify(1, second)]).toEqual([
    eventOf(receiver.bodies[1]!),
    eventOf(receiver.bodies[1]!),
  ])
  expect(() => verify(0, second)).toThrow('signature')
  expect(() => verify(2, second)).toThrow('Missing')
  for (const n of [0, 1, 2]) {
    expect(receiver.requests[n]!.headers).toMatchObject({
      authorization: 'Bearer x',
      'content-type': 'application/json',
      'webhook-id': eventOf(receiver.bodies[n]!).id,
    })
  }
})

test('a batch has one signature, and comes again with the same bytes and id until it is accepted', async () => {
  await using receiver = await openReceiver((response, n) => response.writeHead(n === 1 ? 500 : 200).end())
  const tenant = await agent.newTenant()
  const { id, secret } = await add(tenant, receiver.url, { signed: true, batch: 20 })
  await announce(agent, tenant, 50)
  const failed = await attempts(tenant, id, 20)
  expect(new Set(failed.map(({ outcome }) => outcome))).toEqual(new Set(['failed']))
  await announce(agent, tenant, 1)
  await retryNow(tenant, id)
  await attempts(tenant, id, 20 + 51)
  const batches = receiver.bodies.map((body) => JSON.parse(body) as Event[])
  expect(batches.map((events) => events.length)).toEqual([20, 20, 20, 11])
  expect(receiver.bodies[1]).toBe(receiver.bodies[0])
  const counted = Array.from({ length: 50 }, (_, n) => n + 1)
  expect(batches.slice(1).flatMap((events) => events.map(({ data }) => data.state))).toEqual([...counted, 1])
  for (const [n, { headers }] of receiver.requests.entries()) {
    expect(headers['webhook-id']).toBe(`${batches[n]![0]!.id}-${batches[n]!.length}`)
    const verified = new Webhook(secret!).verify(receiver.bodies[n]!, headers as Record<string, string>)
    expect(verified).toEqual(batches[n])
  }
  await replay(tenant, id, { eventId: batches[0]![3]!.id })
  await receiver.arrived(5)
  expect(JSON.parse(receiver.bodies[4]!)).toEqual([batches[0]![3]])
})

test('a webhook for some types gets no others, and does not keep them from being deleted', async () => {
  await using receiver = await openReceiver()
  const tenant = await agent.newTenant()
  const { id, types } = await add(tenant, receiver.url, { types: ['PresentationUpdated'] })
  expect(types).toEqual(['PresentationUpdated'])
  await announce(agent, tenant, 3)
  await tenant.call('POST /events/test', { body: { type: 'PresentationUpdated' } })
  await announce(agent, tenant, 1)
  await receiver.arrived(1)
  expect(receiver.bodies.map((body) => eventOf(body).type)).toEqual(['PresentationUpdated'])
  const cursor = () =>
    use(agent, tenant, ({ db }) =>
      db.selectFrom('webhook').select('cursor').where('id', '=', id).executeTakeFirstOrThrow(),
    )
  await until('the cursor is at the last event', cursor, (row) => row.cursor === 5)
})

test('a redirect is a failure and is not followed', async () => {
  await using elsewhere = await openReceiver()
  await using receiver = await openReceiver((response) =>
    response.writeHead(307, { location: elsewhere.url }).end(),
  )
  const tenant = await agent.newTenant()
  const { id } = await add(tenant, receiver.url)
  await announce(agent, tenant, 1)
  const [attempt] = await attempts(tenant, id, 1)
  expect(attempt).toMatchObject({
    kind: 'automatic',
    outcome: 'failed',
    status: 307,
    error: 'The receiver answered 307.',
  })
  expect(elsewhere.bodies).toEqual([])
})

test('only the status of a response matters; its body is not stored, returned or read to the end', async () => {
  const canary = 'canary-3f20'
  let [written, closed] = [0, 0]
  await using receiver = await openReceiver((response, count) => {
    if (count > 1) return response.writeHead(200).end(canary)
    const chunk = Buffer.alloc(65_536, canary)
    const go = () => {
      while (!response.destroyed) {
        written += chunk.length
        if (!response.write(chunk)) return void response.once('drain', go)
      }
    }
    response.on('close', () => closed++)
    go()
  })
  const tenant = await agent.newTenant()
  const { id } = await add(tenant, receiver.url)
  await announce(agent, tenant, 2)
  const done = await attempts(tenant, id, 2)
  expect(done.map(({ outcome, status }) => [outcome, status])).toEqual([
    ['delivered', 200],
    ['delivered', 200],
  ])
  expect(statesOf(receiver)).toEqual([1, 2])
  expect(JSON.stringify(done)).not.toContain(canary)
  expect(closed).toBe(1)
  // At most the buffers of two sockets are read from the endless response.
  expect(written).toBeLessThan(50_000_000)
})

test('a receiver that does not answer within five seconds fails the delivery', async () => {
  await using receiver = await openReceiver(() => undefined)
  const tenant = await agent.newTenant()
  const { id } = await add(tenant, receiver.url)
  const result = await tenant.call('POST /events/webhooks/{id}/test', { path: { id } })
  expect(result).toEqual({
    eventId: expect.any(String),
    durationMs: expect.any(Number),
    error: expect.stringContaining('5000 ms'),
  })
  expect(result.durationMs).toBeGreaterThanOrEqual(4_990)
})

test('a test is sent to one webhook before its queue, is marked as test, and returns the response', async () => {
  await using receiver = await openReceiver(
    (response, count) => void (count > 1 && response.writeHead(count === 2 ? 202 : 403).end()),
  )
  await using other = await openReceiver()
  const tenant = await agent.newTenant()
  const { id } = await add(tenant, receiver.url, { signed: true })
  await announce(agent, tenant, 1)
  await receiver.arrived(1)
  await add(tenant, other.url)
  const path = { id }
  const taken = await tenant.call('POST /events/webhooks/{id}/test', {
    path,
    body: { type: 'PresentationUpdated' },
  })
  const refused = await tenant.call('POST /events/webhooks/{id}/test', { path })
  expect([taken, refused]).toEqual([
    { eventId: expect.any(String), status: 202, durationMs: expect.any(Number) },
    {
      eventId: expect.any(String),
      status: 403,
      error: 'The receiver answered 403.',
      durationMs: expect.any(Number),
    },
  ])
  expect(eventOf(receiver.bodies[1]!)).toEqual({
    id: taken.eventId,
    type: 'PresentationUpdated',
    ts: expect.any(String),
    data: { test: true },
    walletId: tenant.walletId,
  })
  expect(receiver.requests[1]!.headers).toMatchObject({
    'webhook-id': taken.eventId,
    'webhook-signature': expect.stringMatching(/^v1,/),
  })
  const log = await attempts(tenant, id, 2)
  expect(log.map(({ eventId, kind, outcome }) => [eventId, kind, outcome])).toEqual([
    [refused.eventId, 'test', 'failed'],
    [taken.eventId, 'test', 'delivered'],
  ])
  expect(other.bodies).toEqual([])
})

test('a test of an unreachable receiver returns the error', async () => {
  const receiver = await openReceiver()
  await receiver[Symbol.asyncDispose]()
  const tenant = await agent.newTenant()
  const { id } = await add(tenant, receiver.url)
  const { status, error } = await tenant.call('POST /events/webhooks/{id}/test', { path: { id } })
  expect([status, error]).toEqual([undefined, expect.stringContaining('nothing listens there')])
})

/** Names and values with many characters that could start another header. */
const text = fc.oneof(
  fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,12}$/),
  fc.string({
    maxLength: 12,
    unit: fc.constantFrom(
      '\r',
      '\n',
      '\r\n',
      ':',
      ' ',
      '\t',
      '\0',
      'a',
      'X-Evil: 1',
      '\u{10a}',
      '\u{20d}',
      'é',
    ),
  }),
)

test('no header name or value can add a header or a request', async () => {
  await using receiver = await openReceiver()
  const tenant = await agent.newTenant()
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(fc.dictionary(text, text, { maxKeys: 3 }), async (customHeaders) => {
      if (!CustomHeaders.safeParse(customHeaders).success) return
      accepted++
      const before = receiver.bodies.length
      const created = await add(tenant, receiver.url, { customHeaders })
      const path = { id: created.id }
      expect(await tenant.call('POST /events/webhooks/{id}/test', { path })).toMatchObject({ status: 200 })
      await tenant.call('DELETE /events/webhooks/{id}', { path })
      expect(receiver.bodies.length).toBe(before + 1)
      const { rawHeaders } = receiver.requests.at(-1)!
      const own = ['host', 'connection', 'content-length', 'content-type', 'webhook-id', 'webhook-timestamp']
      const line = (name: string, value: string) => `${name.toLowerCase()}: ${value.trim()}`
      const arrived = rawHeaders.flatMap((name, n) =>
        n % 2 === 1 || own.includes(name.toLowerCase()) ? [] : [line(name, rawHeaders[n + 1]!)],
      )
      const wanted = Object.entries(customHeaders).map(([name, value]) => line(name, value))
      expect(arrived.toSorted()).toEqual(wanted.toSorted())
    }),
    { numRuns: 60, seed: 6 },
  )
  expect(accepted).toBeGreaterThan(10)
})

/** A webhook with dead letters and no running worker. */
async function withDeadLetters(on: TestAgent, tenant: Tenant, url: string, count: number) {
  const { id } = await add(tenant, url)
  await announce(on, tenant, count)
  await use(on, tenant, (wallet) =>
    wallet.transaction(async (tx) => {
      const answer = { attemptedAt: new Date(), durationMs: 1, error: 'refused' }
      for (let n = 0; n < count; n++) {
        const [delivery] = (await dueDeliveries(tx, tenant.walletId)).deliveries
        await fail(tx, { ...delivery!, attempts: 2 }, answer)
      }
    }),
  )
  return id
}

test('after a recovery a replay delivers each failed event once, with the same id and bytes, and a restart during it loses none', async () => {
  await using own = await startAgent()
  await own.agent.worker[Symbol.asyncDispose]()
  const count = 60
  let onHalf = () => {}
  const half = new Promise<void>((resolve) => (onHalf = resolve))
  await using receiver = await openReceiver((response, n) => {
    response.end()
    if (n === count / 2) onHalf()
  })
  const tenant = await own.newTenant()
  const id = await withDeadLetters(own, tenant, receiver.url, count)
  const path = { id }
  const dead = async () =>
    (await tenant.call('GET /events/webhooks/{id}/deliveries', { path, query: { outcome: 'dead' } })).contents
  const given = (await dead()).map(({ eventId }) => eventId).toReversed()
  expect(given).toHaveLength(count)
  expect(await replay(tenant, id, { failed: true })).toEqual({
    count,
  })
  {
    await using worker = createWorker(own.agent.config, own.agent.wallets, openLog('silent'))
    await worker.resume()
    await half
  }
  expect(receiver.bodies.length).toBeLessThan(count)
  await using worker = createWorker(own.agent.config, own.agent.wallets, openLog('silent'))
  await worker.resume()
  await until(
    'an empty list of dead letters',
    async () => (await dead()).length,
    (length) => length === 0,
  )
  expect(receiver.bodies.map((body) => eventOf(body).id)).toEqual(given)
  expect(statesOf(receiver)).toEqual(Array.from({ length: count }, (_, n) => n + 1))
  expect(await replay(tenant, id, { failed: true })).toEqual({
    count: 0,
  })
})

test('a replay has the same bytes and comes before new events', async () => {
  await using receiver = await openReceiver()
  const tenant = await agent.newTenant()
  const { id } = await add(tenant, receiver.url)
  await announce(agent, tenant, 2)
  const log = await attempts(tenant, id, 2)
  await replay(tenant, id, { eventId: log[1]!.eventId })
  await announce(agent, tenant, 1)
  await attempts(tenant, id, 4)
  await replay(tenant, id, { since: '2020-01-01T00:00:00Z' })
  await attempts(tenant, id, 7)
  const [one, two, , three] = receiver.bodies
  expect(receiver.bodies).toEqual([one, two, one, three, one, two, three])
  expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(3)
})

test('a replay to an unreachable receiver does not delay other webhooks', async () => {
  await using own = await startAgent()
  await own.agent.worker[Symbol.asyncDispose]()
  await using mute = await openReceiver(() => undefined)
  await using live = await openReceiver()
  const tenant = await own.newTenant()
  const id = await withDeadLetters(own, tenant, mute.url, 3)
  await add(tenant, live.url)
  await replay(tenant, id, { failed: true })
  await using worker = createWorker(own.agent.config, own.agent.wallets, openLog('silent'))
  await announce(own, tenant, 3)
  worker.wake(tenant.walletId)
  await live.arrived(3)
  expect(mute.bodies.length).toBeLessThan(2)
})

test('an unknown event id and one of another tenant are both 404', async () => {
  const [one, two] = [await agent.newTenant(), await agent.newTenant()]
  await using receiver = await openReceiver()
  const { id } = await add(one, receiver.url)
  await announce(agent, one, 1)
  const { eventId } = (await attempts(one, id, 1))[0]!
  const { id: stranger } = await add(two, receiver.url)
  for (const wanted of [eventId, randomUUID()]) {
    await expect(replay(two, stranger, { eventId: wanted })).rejects.toMatchObject({
      problem: { status: 404 },
    })
  }
})

test('a deleted webhook gets no more events, even with a full queue', async () => {
  let end!: () => void
  const mayEnd = new Promise<void>((resolve) => (end = resolve))
  await using receiver = await openReceiver(
    (response, count) => void (count === 1 ? response.end() : void mayEnd.then(() => response.end())),
  )
  await using other = await openReceiver()
  const tenant = await agent.newTenant()
  const { id } = await add(tenant, receiver.url)
  await add(tenant, other.url)
  await announce(agent, tenant, 1)
  await receiver.arrived(1)
  await announce(agent, tenant, 3)
  await receiver.arrived(2)
  await tenant.call('DELETE /events/webhooks/{id}', { path: { id } })
  end()
  await announce(agent, tenant, 1)
  await other.arrived(5)
  expect([statesOf(receiver), statesOf(other)]).toEqual([
    [1, 1],
    [1, 1, 2, 3, 1],
  ])
})

test('an event of a rolled back write is not delivered, unlike another event in the same commit', async () => {
  await using receiver = await openReceiver()
  const tenant = await agent.newTenant()
  await add(tenant, receiver.url)
  await announce(agent, tenant, 1)
  await receiver.arrived(1)
  const write = (state: string, isLost: boolean) =>
    use(agent, tenant, (wallet) =>
      wallet.transaction(async (tx) => {
        await appendEvent(tx, { type: 'ConnectionUpdated', subject: 'a thread', data: { state } })
        if (isLost) throw new Error('taken back')
      }),
    )
  const results = await Promise.allSettled([write('a', false), write('b', true), write('c', false)])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  await receiver.arrived(3)
  expect(statesOf(receiver)).toEqual([1, 'a', 'c'])
})

test('a webhook with a long queue gets all events in order and once, including new ones', async () => {
  await using receiver = await openReceiver()
  const tenant = await agent.newTenant()
  await add(tenant, receiver.url)
  await Promise.all([announce(agent, tenant, 250), announce(agent, tenant, 1)])
  await receiver.arrived(1)
  await announce(agent, tenant, 130)
  await receiver.arrived(381)
  const counted = (count: number) => Array.from({ length: count }, (_, n) => n + 1)
  expect(statesOf(receiver)).toEqual([...counted(250), 1, ...counted(130)])
})

test('beside a dead webhook the other one gets all events in order and once, and the dead one keeps its queue', async () => {
  let isDead = true
  await using dead = await openReceiver((response) => void response.writeHead(isDead ? 503 : 200).end())
  await using receiver = await openReceiver()
  const tenant = await agent.newTenant()
  const { id } = await add(tenant, dead.url)
  await add(tenant, receiver.url)
  const counted = (count: number) => Array.from({ length: count }, (_, n) => n + 1)
  // More than are remembered.
  for (let n = 0; n < 10; n++) await announce(agent, tenant, 10)
  await receiver.arrived(100)
  expect(statesOf(receiver)).toEqual(Array.from({ length: 10 }, () => counted(10)).flat())
  expect(new Set(statesOf(dead))).toEqual(new Set([1]))
  const refused = dead.bodies.length
  isDead = false
  await retryNow(tenant, id)
  await dead.arrived(refused + 100)
  expect(statesOf(dead).slice(refused)).toEqual(statesOf(receiver))
})

test('a delivery whose result is not stored yet is not repeated by another poll', async () => {
  let goOn = () => {}
  const mayGoOn = new Promise<void>((resolve) => (goOn = resolve))
  const tenant = await agent.newTenant()
  const { writeBarrier } = await use(agent, tenant, (wallet) => Promise.resolve(wallet.env))
  await using receiver = await openReceiver(async (response, count) => {
    // Blocks writes from here on, like a backup.
    if (count === 1)
      await writeBarrier.pause(
        () => Promise.resolve(),
        () => mayGoOn,
      )
    response.end()
  })
  const { id } = await add(tenant, receiver.url)
  await announce(agent, tenant, 1)
  await receiver.arrived(1)
  agent.agent.worker.wake(tenant.walletId)
  await setTimeout(200)
  expect(statesOf(receiver)).toEqual([1])
  writeBarrier.release()
  goOn()
  const log = await attempts(tenant, id, 1)
  expect([log.length, statesOf(receiver)]).toEqual([1, [1]])
})
