/** The queue of a webhook, with simulated times. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Answer } from '../../../src/wallet/events/delivery-log.ts'
import { appendEvent, Event, type EventText, type EventType } from '../../../src/wallet/events/event.ts'
import { confirm, dueDeliveries, fail, skip } from '../../../src/wallet/events/deliveries.ts'
import { CreateWebhook } from '../../../src/wallet/events/webhook.ts'
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  setGlobalWebhook,
  type Sealer,
} from '../../../src/wallet/events/webhooks.ts'
import type { Db, Tx } from '../../../src/foundation/storage/database.ts'
import { temporaryWalletDb } from '../../support/wallet-db.ts'

const walletId = randomUUID()
const sealer: Sealer = {
  seal: (context, text) => `${context}|${text}`,
  unsealCached: (context, sealed, read) => read(sealed.slice(context.length + 1)),
}

const read = ({ text }: EventText) => Event.parse(JSON.parse(text))

const yes: Answer = { attemptedAt: new Date(0), durationMs: 12.4, status: 204 }
const no = (error: string): Answer => ({ attemptedAt: new Date(0), durationMs: 12.4, error })

const write = <T>(db: Db, work: (tx: Tx) => Promise<T>) => db.transaction().execute(work)
const announce = (db: Db, state: string) =>
  write(db, (tx) => appendEvent(tx, { type: 'ConnectionUpdated', subject: 'thread', data: { state } }))
const register = (db: Db, url: string, batch?: number) =>
  write(db, (tx) => createWebhook(tx, sealer, { url, customHeaders: {}, batch }, 10))
const states = async (db: Db, now: Date) =>
  (await dueDeliveries(db, walletId, { now })).deliveries.map(({ url, events: [{ event }] }) => [
    url,
    read(event).data.state,
  ])

test('a webhook gets the events after its registration, in order, one at a time', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await announce(db, 'before')
  await register(db, 'http://one')
  await announce(db, 'first')
  await announce(db, 'second')
  const now = new Date()
  expect(await states(db, now)).toEqual([['http://one', 'first']])
  const [delivery] = (await dueDeliveries(db, walletId, { now })).deliveries
  const { type, id, ts } = delivery!.events[0].event
  const data = { state: 'first' }
  expect(delivery!.events[0].event.text).toBe(JSON.stringify({ type, id, ts, data, walletId }))
  expect(read(delivery!.events[0].event)).toMatchObject({ type: 'ConnectionUpdated' })
  await write(db, (tx) => confirm(tx, delivery!, yes))
  expect(await states(db, now)).toEqual([['http://one', 'second']])
})

test('three attempts five seconds apart, then a dead letter and the next event; another webhook does not wait', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await register(db, 'http://dead')
  await register(db, 'http://live')
  await announce(db, 'first')
  await announce(db, 'second')
  let now = new Date(Date.now() + 60_000)
  for (const expected of ['retry', 'retry', 'dead letter']) {
    const dead = (await dueDeliveries(db, walletId, { now })).deliveries.find(
      ({ url }) => url === 'http://dead',
    )!
    expect(read(dead.events[0].event).data.state).toBe('first')
    expect(await write(db, (tx) => fail(tx, dead, no('refused'), now))).toBe(expected)
    if (expected === 'retry') {
      expect(await states(db, new Date(now.getTime() + 4_999))).toEqual([['http://live', 'first']])
      expect((await dueDeliveries(db, walletId, { now })).nextAt).toEqual(new Date(now.getTime() + 5_000))
      now = new Date(now.getTime() + 5_000)
    }
  }
  expect(await states(db, now)).toEqual([
    ['http://dead', 'second'],
    ['http://live', 'first'],
  ])
  const letters = await db.selectFrom('dead_letter').selectAll().execute()
  expect(letters).toEqual([{ webhook_id: expect.any(String), event_sequence: 1, attempt: 3 }])
  const attempts = await db
    .selectFrom('delivery_attempt')
    .select(['sequence', 'event_sequence', 'kind', 'duration_ms', 'status', 'error'])
    .execute()
  const attempt = { event_sequence: 1, kind: 'automatic', duration_ms: 12, status: null, error: 'refused' }
  expect(attempts).toEqual([1, 2, 3].map((sequence) => ({ sequence, ...attempt })))
})

test('attempts are counted per event', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await register(db, 'http://one')
  await announce(db, 'first')
  await announce(db, 'second')
  const next = async (now: Date) => (await dueDeliveries(db, walletId, { now })).deliveries[0]!
  const now = new Date(Date.now() + 60_000)
  await write(db, async (tx) =>
    fail(tx, (await dueDeliveries(tx, walletId, { now })).deliveries[0]!, no('refused'), now),
  )
  const later = new Date(now.getTime() + 5_000)
  const second = await next(later)
  expect(second.attempts).toBe(1)
  await write(db, (tx) => confirm(tx, second, yes))
  const third = await next(later)
  expect([third.attempts, read(third.events[0].event).data]).toEqual([0, { state: 'second' }])
})

/** The states of the events of the next request, and of those after it. */
async function requests(db: Db, now: Date) {
  const [delivery] = (await dueDeliveries(db, walletId, { now })).deliveries
  const { events, following } = delivery!
  return [events, ...following].map((each) => each.map(({ event }) => read(event).data.state))
}

test('a batch that failed is sent again as it was, and all its events become dead letters', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await register(db, 'http://one', 3)
  const next = async (now: Date) => (await dueDeliveries(db, walletId, { now })).deliveries[0]!
  let now = new Date(Date.now() + 60_000)
  for (const state of ['1', '2']) await announce(db, state)
  expect(await requests(db, now)).toEqual([['1', '2']])
  for (const expected of ['retry', 'retry', 'dead letter']) {
    const failed = await next(now)
    expect(failed.events.map(({ sequence }) => sequence)).toEqual([1, 2])
    expect(await write(db, (tx) => fail(tx, failed, no('refused'), now))).toBe(expected)
    now = new Date(now.getTime() + 5_000)
    for (const state of ['new', 'newer']) await announce(db, state)
  }
  expect(await requests(db, now)).toEqual([
    ['new', 'newer', 'new'],
    ['newer', 'new', 'newer'],
  ])
  const letters = await db.selectFrom('dead_letter').select(['event_sequence', 'attempt']).execute()
  expect(letters).toEqual([
    { event_sequence: 1, attempt: 5 },
    { event_sequence: 2, attempt: 6 },
  ])
  const accepted = await next(now)
  await write(db, (tx) => confirm(tx, accepted, yes))
  expect(await requests(db, now)).toEqual([['newer', 'new', 'newer']])
  const delivered = await db
    .selectFrom('delivery_attempt')
    .select('event_sequence')
    .where('error', 'is', null)
    .execute()
  expect(delivered.map((attempt) => attempt.event_sequence)).toEqual([3, 4, 5])
})

test('a batch has a bounded size, and an event that is larger is sent alone', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await register(db, 'http://one', 50)
  const [small, half, huge] = ['s', 'h'.repeat(60_000), 'x'.repeat(200_000)]
  for (const state of [small, half, half, huge, small, small]) await announce(db, state)
  const lengths = (await requests(db, new Date())).map((states) =>
    states.map((state) => String(state).length),
  )
  expect(lengths).toEqual([[1, 60_000], [60_000], [200_000], [1, 1]])
})

test('an acceptance that is stored after the failure of the next request keeps its attempts', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await register(db, 'http://one')
  await announce(db, 'first')
  await announce(db, 'second')
  const now = new Date(Date.now() + 60_000)
  const [first] = (await dueDeliveries(db, walletId, { now })).deliveries
  await write(db, (tx) => fail(tx, { ...first!, events: first!.following[0]! }, no('refused'), now))
  await write(db, (tx) => confirm(tx, first!, yes))
  const [second] = (await dueDeliveries(db, walletId, { now: new Date(now.getTime() + 5_000) })).deliveries
  expect([second!.attempts, read(second!.events[0].event).data]).toEqual([1, { state: 'second' }])
})

test('a webhook that is deleted during a delivery has no dead letter', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  const { id } = await register(db, 'http://one')
  await announce(db, 'first')
  const [delivery] = (await dueDeliveries(db, walletId)).deliveries
  await write(db, (tx) => deleteWebhook(tx, id))
  await write(db, (tx) => fail(tx, { ...delivery!, attempts: 2 }, no('refused')))
  expect(await db.selectFrom('dead_letter').selectAll().execute()).toEqual([])
})

test('a retry time further ahead than the longest delay comes from another clock, and is due at once', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await register(db, 'http://one')
  await announce(db, 'first')
  const now = new Date()
  const tomorrow = new Date(now.getTime() + 86_400_000)
  await write(db, async (tx) =>
    fail(tx, (await dueDeliveries(tx, walletId, { now })).deliveries[0]!, no('refused'), tomorrow),
  )
  expect(await states(db, now)).toEqual([['http://one', 'first']])
})

test('a busy webhook is skipped', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  const { id } = await register(db, 'http://one')
  await register(db, 'http://two')
  await announce(db, 'first')
  expect((await dueDeliveries(db, walletId, { busy: [id] })).deliveries.map(({ url }) => url)).toEqual([
    'http://two',
  ])
})

test('a webhook gets events at once even if the clock is set back after its registration', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await register(db, 'http://one')
  await announce(db, 'first')
  expect(await states(db, new Date(Date.now() - 3_600_000))).toEqual([['http://one', 'first']])
})

test('a wallet may have any UUID, including one without a version', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await register(db, 'http://one')
  await announce(db, 'first')
  const id = '11111111-1111-1111-1111-111111111111'
  expect(
    (await dueDeliveries(db, id)).deliveries.map(({ events: [{ event }] }) => read(event).walletId),
  ).toEqual([id])
})

test('a webhook for some types gets their events, in order, and skips the others', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  const emit = (type: EventType, state: string) =>
    write(db, (tx) => appendEvent(tx, { type, subject: 'thread', data: { state } }))
  const types: EventType[] = ['ConnectionUpdated', 'PresentationUpdated']
  const { id } = await write(db, (tx) =>
    createWebhook(tx, sealer, { url: 'http://one', customHeaders: {}, types, batch: 2 }, 10),
  )
  expect((await listWebhooks(db, sealer))[0]!.types).toEqual(types)
  const due = () => dueDeliveries(db, walletId, { now: new Date() })
  const cursor = async () =>
    (await db.selectFrom('webhook').select('cursor').executeTakeFirstOrThrow()).cursor

  for (let n = 0; n < 100; n++) await emit('DIDStatusUpdated', 'unwanted')
  const { skipped } = await due()
  expect(skipped).toEqual(new Map([[id, 100]]))
  await write(db, (tx) => skip(tx, skipped))
  expect([await cursor(), (await due()).skipped.size]).toEqual([100, 0])

  await emit('DIDStatusUpdated', 'unwanted')
  await emit('ConnectionUpdated', 'first')
  await emit('DIDStatusUpdated', 'unwanted')
  await emit('PresentationUpdated', 'second')
  await emit('ConnectionUpdated', 'third')
  await emit('DIDStatusUpdated', 'unwanted')
  expect(await requests(db, new Date())).toEqual([['first', 'second'], ['third']])
  const { deliveries, waiting } = await due()
  expect(waiting.get(id)).toMatchObject({ count: 3 })
  await write(db, (tx) => confirm(tx, deliveries[0]!, yes))
  expect(await cursor()).toBe(104)
  const [last] = (await due()).deliveries
  await write(db, (tx) => confirm(tx, last!, yes))
  expect(await due()).toMatchObject({ deliveries: [], skipped: new Map([[id, 106]]) })
})

test.each([[[]], [['Nonsense']], ['ConnectionUpdated']])('the types %j are refused', (types) => {
  expect(CreateWebhook.safeParse({ url: 'http://one', types }).success).toBe(false)
})

test.each([0, 51, 1.5, '3'])('a batch of %j events is refused', (batch) => {
  expect(CreateWebhook.safeParse({ url: 'http://one', batch }).success).toBe(false)
})

test.each([
  'http://user@example.com/',
  'https://user:secret@example.com/events',
  'ftp://example.com',
  'events',
])('a webhook at %s is refused', (url) => {
  expect(CreateWebhook.safeParse({ url }).success).toBe(false)
})

test('headers are encrypted for their own row, masked in lists, and deleted with the webhook', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  const webhook = await write(db, (tx) =>
    createWebhook(tx, sealer, { url: 'http://one', customHeaders: { Authorization: 'Bearer x' } }, 10),
  )
  const row = await db.selectFrom('webhook').selectAll().executeTakeFirstOrThrow()
  expect(row.headers).toBe(`webhook:${webhook.id}|{"Authorization":"Bearer x"}`)
  expect(webhook.customHeaders).toEqual({ Authorization: 'Bearer x' })
  expect(await listWebhooks(db, sealer)).toEqual([{ ...webhook, customHeaders: { Authorization: '***' } }])
  await write(db, (tx) => deleteWebhook(tx, webhook.id))
  expect(await listWebhooks(db, sealer)).toEqual([])
  await expect(write(db, (tx) => deleteWebhook(tx, webhook.id))).rejects.toMatchObject({ status: 404 })
})

test('tenants cannot see, count or delete the global webhook', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await announce(db, 'before')
  for (let times = 0; times < 2; times++) await write(db, (tx) => setGlobalWebhook(tx, true))
  await announce(db, 'first')
  expect(await states(db, new Date())).toEqual([['', 'first']])
  expect(await listWebhooks(db, sealer)).toEqual([])
  await expect(write(db, (tx) => deleteWebhook(tx, 'global'))).rejects.toMatchObject({ status: 404 })
  await write(db, (tx) => createWebhook(tx, sealer, { url: 'http://one', customHeaders: {} }, 1))
  await expect(
    write(db, (tx) => createWebhook(tx, sealer, { url: 'http://two', customHeaders: {} }, 1)),
  ).rejects.toMatchObject({
    status: 422,
  })
  await write(db, (tx) => setGlobalWebhook(tx, false))
  await announce(db, 'second')
  expect((await states(db, new Date())).map(([url]) => url)).toEqual(['http://one'])
})
