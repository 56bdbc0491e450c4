/** Replay of events, and the delivery log, with simulated times. */
import { randomUUID } from 'node:crypto'
import { Kysely, SqliteDialect } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { listDeliveries, logAttempt, type Answer } from '../../../src/wallet/events/delivery-log.ts'
import { lastSequence, appendEvent, type Event } from '../../../src/wallet/events/event.ts'
import { confirm, dueDeliveries, fail, type Delivery } from '../../../src/wallet/events/deliveries.ts'
import { replay, Replay } from '../../../src/wallet/events/replay.ts'
import { createWebhook, deleteWebhook, type Sealer } from '../../../src/wallet/events/webhooks.ts'
import type { Db, Tx } from '../../../src/foundation/storage/database.ts'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import type { WalletTables } from '../../../src/foundation/storage/wallet-tables.ts'
import { temporaryWalletDb } from '../../support/wallet-db.ts'

const walletId = randomUUID()
const sealer: Sealer = { seal: (_, text) => text, unsealCached: (_, sealed, read) => read(sealed) }
const answer = (rest: Partial<Answer>): Answer => ({ attemptedAt: new Date(0), durationMs: 1, ...rest })
const all = { offset: 0, limit: 1_000 }

const stateOf = ({ events: [{ event }] }: Delivery) => JSON.parse(event.text).data.state

const write = <T>(db: Db, work: (tx: Tx) => Promise<T>) => db.transaction().execute(work)

/** Late enough that every retry is due. */
const later = (step: number) => new Date(Date.now() + step * 60_000)

/** A webhook, and events 1 to `count` in the log after its registration. */
async function openQueue(count: number) {
  const wallet = await temporaryWalletDb()
  const { db } = wallet
  const { id } = await write(db, (tx) =>
    createWebhook(tx, sealer, { url: 'http://one', customHeaders: {} }, 10),
  )
  let step = 0
  const announce = (state: number) =>
    write(db, (tx) => appendEvent(tx, { type: 'ConnectionUpdated', subject: 'thread', data: { state } }))
  for (let state = 1; state <= count; state++) await announce(state)
  const next = async () => (await dueDeliveries(db, walletId, { now: later(step) })).deliveries[0]
  const finish = async (isAccepted: boolean) => {
    const delivery = (await next())!
    if (isAccepted) await write(db, (tx) => confirm(tx, delivery, answer({ status: 200 })))
    else await write(db, (tx) => fail(tx, delivery, answer({ status: 500, error: 'refused' }), later(step)))
    step++
    return stateOf(delivery)
  }
  return {
    ...wallet,
    id,
    announce,
    next,
    accept: () => finish(true),
    refuse: () => finish(false),
    abandon: async () => [await finish(false), await finish(false), await finish(false)][0],
    /** The states of the queued events in order of delivery. */
    drain: async () => {
      const states = []
      while (await next()) states.push(await finish(true))
      return states
    },
    replay: (wanted: Replay) => write(db, (tx) => replay(tx, id, wanted)),
    list: async (query = {}) => (await listDeliveries(db, id, { ...all, ...query })).deliveries,
    eventId: async (sequence: number) =>
      (await db.selectFrom('event').select('id').where('sequence', '=', sequence).executeTakeFirstOrThrow())
        .id,
  }
}

test('an event, delivered or not, is replayed before events that were not delivered yet', async () => {
  await using one = await openQueue(3)
  await one.accept()
  await one.accept()
  const before = await one.next()
  expect(await one.replay({ eventId: await one.eventId(1) })).toBe(1)
  expect(await one.next()).toMatchObject({
    kind: 'replay',
    attempts: 0,
    events: [{ event: { id: await one.eventId(1), text: expect.stringContaining('"data":{"state":1}') } }],
  })
  expect(await one.drain()).toEqual([1, 3])
  expect(stateOf(before!)).toBe(3)
})

test('an event that is already queued is not queued twice', async () => {
  await using one = await openQueue(2)
  await one.accept()
  expect(await one.replay({ eventId: await one.eventId(2) })).toBe(0)
  expect([
    await one.replay({ eventId: await one.eventId(1) }),
    await one.replay({ eventId: await one.eventId(1) }),
  ]).toEqual([1, 0])
  expect(await one.drain()).toEqual([1, 2])
})

test('a replay since an instant is in order, includes events before the registration, and works after a clock change', async () => {
  await using one = await openQueue(0)
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  for (const [state, minutes] of [60, 120, 180, 150, 240].entries()) {
    vi.setSystemTime(Date.UTC(2030, 0, 1, 0, minutes))
    await one.announce(state)
  }
  await one.db.updateTable('webhook').set({ cursor: 4 }).where('id', '=', one.id).execute()
  expect(await one.replay({ since: '2030-01-01T05:00:00+02:00' })).toBe(1)
  expect(await one.drain()).toEqual([2, 4])
  expect(await one.replay({ since: '2030-01-01T02:00:00.001Z' })).toBe(3)
  expect(await one.drain()).toEqual([2, 3, 4])
  expect(await one.replay({ since: '0001-01-01T00:00:00Z' })).toBe(5)
})

test('a replay since an instant has events of the types of the webhook, one of an id has any', async () => {
  await using one = await openQueue(2)
  await one.drain()
  const since = '0001-01-01T00:00:00Z'
  const of = (types: string) =>
    one.db.updateTable('webhook').set({ types }).where('id', '=', one.id).execute()
  await of(',PresentationUpdated,')
  expect([await one.replay({ since }), await one.replay({ eventId: await one.eventId(1) })]).toEqual([0, 1])
  await of(',PresentationUpdated,ConnectionUpdated,')
  expect(await one.replay({ since })).toBe(1)
  expect(await one.drain()).toEqual([1, 2])
})

test('a replay of failed events delivers all dead letters, which stay listed until then', async () => {
  await using one = await openQueue(4)
  expect([await one.abandon(), await one.accept(), await one.abandon(), await one.accept()]).toEqual([
    1, 2, 3, 4,
  ])
  const dead = async () => (await one.list({ outcome: 'dead' })).map(({ eventId, kind }) => [eventId, kind])
  const [first, third] = [await one.eventId(1), await one.eventId(3)]
  expect(await dead()).toEqual([
    [third, 'automatic'],
    [first, 'automatic'],
  ])
  expect(await one.replay({ failed: true })).toBe(2)
  expect(await one.accept()).toBe(1)
  expect(await dead()).toEqual([[third, 'automatic']])
  expect(await one.abandon()).toBe(3)
  expect(await dead()).toEqual([[third, 'replay']])
  expect(await one.next()).toBeUndefined()
  expect([await one.replay({ failed: true }), await one.drain(), await dead()]).toEqual([1, [3], []])
})

test('a replay has three attempts five seconds apart, and those of the event after it stay as they are', async () => {
  await using one = await openQueue(2)
  const { db } = one
  await one.accept()
  await one.refuse()
  await one.replay({ eventId: await one.eventId(1) })
  expect(await one.next()).toMatchObject({ kind: 'replay', events: [{ sequence: 1 }], attempts: 0 })
  const now = later(100)
  const [first] = (await dueDeliveries(db, walletId, { now })).deliveries
  await write(db, (tx) => fail(tx, first!, answer({ error: 'refused' }), now))
  expect(await dueDeliveries(db, walletId, { now: new Date(now.getTime() + 4_999) })).toMatchObject({
    deliveries: [],
    nextAt: new Date(now.getTime() + 5_000),
  })
  expect(
    (await dueDeliveries(db, walletId, { now: new Date(now.getTime() + 5_000) })).deliveries,
  ).toMatchObject([{ kind: 'replay', events: [{ sequence: 1 }], attempts: 1 }])
  await one.db
    .updateTable('redelivery')
    .set({ due_at: new Date(0).toISOString() })
    .execute()
  await one.accept()
  expect(await one.next()).toMatchObject({ kind: 'automatic', events: [{ sequence: 2 }], attempts: 1 })
})

test('attempts are listed newest first, by event and outcome, in pages', async () => {
  await using one = await openQueue(2)
  await one.refuse()
  await one.accept()
  await one.abandon()
  const [first, second] = [await one.eventId(1), await one.eventId(2)]
  const short = async (query = {}) =>
    (await one.list(query)).map(({ eventId, outcome }) => [eventId, outcome])
  const attempts = [
    [second, 'dead'],
    [second, 'failed'],
    [second, 'failed'],
    [first, 'delivered'],
    [first, 'failed'],
  ]
  expect(await short()).toEqual(attempts)
  expect(await short({ offset: 1, limit: 2 })).toEqual(attempts.slice(1, 3))
  expect(await short({ eventId: first })).toEqual(attempts.slice(3))
  expect(await short({ outcome: 'delivered' })).toEqual([attempts[3]])
  expect(await short({ outcome: 'failed' })).toEqual(
    attempts.filter(([, outcome]) => outcome !== 'delivered'),
  )
  expect(await short({ outcome: 'dead', eventId: first })).toEqual([])
  expect((await listDeliveries(one.db, one.id, { offset: 4, limit: 1 })).total).toBe(5)
  expect((await one.list())[0]).toEqual({
    eventId: second,
    type: 'ConnectionUpdated',
    kind: 'automatic',
    outcome: 'dead',
    attemptedAt: '1970-01-01T00:00:00.000Z',
    durationMs: 1,
    status: 500,
    error: 'refused',
  })
})

test('a test of the webhook is listed and found by its event id, though the event log does not have it', async () => {
  await using one = await openQueue(1)
  await one.accept()
  const event: Event = {
    id: randomUUID(),
    type: 'ConnectionUpdated',
    ts: new Date().toISOString(),
    data: {},
    walletId,
  }
  await write(one.db, (tx) =>
    logAttempt(tx, { webhookId: one.id, event, kind: 'test' }, answer({ status: 204 })),
  )
  expect(await one.list()).toMatchObject([{ kind: 'test' }, { kind: 'automatic' }])
  expect(await one.list({ eventId: event.id })).toMatchObject([
    { kind: 'test', eventId: event.id, status: 204 },
  ])
  expect(await one.list({ eventId: await one.eventId(1) })).toMatchObject([{ kind: 'automatic' }])
  expect(await one.list({ eventId: randomUUID() })).toEqual([])
})

test('an unknown event and an unknown webhook are 404', async () => {
  await using one = await openQueue(1)
  await expect(one.replay({ eventId: randomUUID() })).rejects.toMatchObject({
    status: 404,
    message: expect.stringContaining('event'),
  })
  await expect(write(one.db, (tx) => replay(tx, randomUUID(), { failed: true }))).rejects.toMatchObject({
    status: 404,
  })
  await expect(write(one.db, (tx) => replay(tx, 'global', { failed: true }))).rejects.toMatchObject({
    status: 404,
  })
})

test.each([
  {},
  { failed: false },
  { failed: true, since: '2030-01-01T00:00:00Z' },
  { eventId: 'x' },
  { since: 'yesterday' },
  { all: true },
])('a replay of %j is refused', (wanted) => {
  expect(Replay.safeParse(wanted).success).toBe(false)
})

const left = async (db: Db) =>
  Promise.all(
    (['dead_letter', 'redelivery', 'delivery_attempt'] as const).map(
      async (table) => (await db.selectFrom(table).selectAll().execute()).length,
    ),
  )

test('deleting a webhook deletes its deliveries, and an attempt in progress stores nothing', async () => {
  await using one = await openQueue(2)
  await one.abandon()
  await one.replay({ failed: true })
  const delivery = (await one.next())!
  expect(await left(one.db)).toEqual([1, 1, 3])
  await write(one.db, (tx) => deleteWebhook(tx, one.id))
  for (const attempts of [0, 2])
    await write(one.db, (tx) => fail(tx, { ...delivery, attempts }, answer({ error: 'refused' })))
  await write(one.db, (tx) => confirm(tx, delivery, answer({ status: 200 })))
  expect(await left(one.db)).toEqual([0, 0, 0])
})

test('deleting an event deletes its deliveries, and the queue continues', async () => {
  await using one = await openQueue(3)
  await one.abandon()
  await one.accept()
  await one.replay({ failed: true })
  const delivery = (await one.next())!
  await one.db.deleteFrom('event').where('sequence', '=', 1).execute()
  await write(one.db, (tx) => confirm(tx, delivery, answer({ status: 200 })))
  expect(await left(one.db)).toEqual([0, 0, 1])
  expect(await one.drain()).toEqual([3])
})

/** Opens the same file and records each statement with its query plan and number of rows. */
function watch(path: string) {
  const database = openSqlite(path)
  const seen = { rows: 0, plans: [] as string[] }
  const db = new Kysely<WalletTables>({
    dialect: new SqliteDialect({ database }),
    log({ query: { sql, parameters } }) {
      if (!/^(?:select|insert|update|delete)/.test(sql)) return
      const plan = database.prepare(`explain query plan ${sql}`).all(...parameters) as { detail: string }[]
      seen.plans.push(...plan.map(({ detail }) => detail))
    },
  }).withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: ({ result }) => {
      seen.rows += result.rows.length
      return Promise.resolve(result)
    },
  })
  return { db, seen }
}

test('with ten thousand queued events one is read at a time, and no growing table is scanned', async () => {
  await using one = await openQueue(0)
  const count = 10_000
  await write(one.db, async (tx) => {
    for (let n = 0; n < count; n++)
      await appendEvent(tx, { type: 'ConnectionUpdated', subject: 'thread', data: { n } })
  })
  const { db, seen } = watch(one.path)
  const first = (await dueDeliveries(db, walletId)).deliveries[0]!
  await write(db, (tx) => confirm(tx, first, answer({ status: 200 })))
  const second = (await dueDeliveries(db, walletId)).deliveries[0]!
  await write(db, (tx) => fail(tx, { ...second, attempts: 2 }, answer({ error: 'refused' })))
  await one.db
    .updateTable('webhook')
    .set({ cursor: await lastSequence(one.db) })
    .execute()
  const ids = [await one.eventId(1), await one.eventId(2)]
  await write(db, (tx) => replay(tx, one.id, { eventId: ids[0]! }))
  await write(db, (tx) => replay(tx, one.id, { failed: true }))
  const third = (await dueDeliveries(db, walletId)).deliveries[0]!
  await write(db, (tx) => confirm(tx, third, answer({ status: 200 })))
  for (const outcome of [undefined, 'delivered', 'failed', 'dead'] as const) {
    await listDeliveries(db, one.id, { offset: 0, limit: 10, outcome })
    for (const eventId of [ids[1]!, randomUUID()])
      await listDeliveries(db, one.id, { offset: 0, limit: 10, outcome, eventId })
  }
  expect(seen.rows).toBeLessThan(60)
  expect(await write(db, (tx) => replay(tx, one.id, { since: '2020-01-01T00:00:00Z' }))).toBe(count - 1)
  seen.rows = 0
  expect((await dueDeliveries(db, walletId)).deliveries).toMatchObject([
    { kind: 'replay', events: [{ sequence: 1 }] },
  ])
  expect(seen.rows).toBeLessThan(5)
  expect(seen.plans.filter((plan) => /SCAN (?!webhook|json_each)|TEMP B-TREE/.test(plan))).toEqual([])
  // The indexes for attempts of an event, attempts of a test, and events since an instant.
  for (const way of [
    'delivery_attempt_event (event_sequence=? AND webhook_id=?)',
    'delivery_attempt_test (event_id=? AND webhook_id=?)',
    'sqlite_autoindex_event_1 (id>?)',
  ])
    expect(seen.plans).toContainEqual(expect.stringContaining(way))
  await db.destroy()
})
