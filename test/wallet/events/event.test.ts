/** The event log: indexed queries, and deletion of old events. */
import { randomUUID } from 'node:crypto'
import { sql, type CompiledQuery } from 'kysely'
import { expect, test } from 'vitest'
import { newId } from '../../../src/foundation/id.ts'
import {
  eventsAfter,
  findEvent,
  lastSequence,
  lastSequenceBefore,
  pruneEvents,
  appendEvent,
} from '../../../src/wallet/events/event.ts'
import type { Db } from '../../../src/foundation/storage/database.ts'
import { sharedAgent } from '../../support/agent.ts'
import { temporaryWalletDb } from '../../support/wallet-db.ts'

const walletId = randomUUID()
const type = 'ConnectionUpdated'
const dayMs = 86_400_000
const put = (db: Db, subject = 'thread') =>
  db.transaction().execute((tx) => appendEvent(tx, { type, subject, data: {} }))
const sequences = async (db: Db) =>
  (await eventsAfter(db, walletId, 0, 1_000)).map(({ sequence }) => sequence)
const prune = (db: Db, now: Date) => db.transaction().execute((tx) => pruneEvents(tx, 30 * 86_400, now))

test('events are found by cursor, type, thread and id, without a scan or a sort', async () => {
  await using wallet = await temporaryWalletDb()
  const queries: CompiledQuery[] = []
  // An empty plugin creates a separate `Db`, whose queries are recorded.
  const db = wallet.db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: ({ result }) => Promise.resolve(result),
  })
  const executor = db.getExecutor()
  const compile = executor.compileQuery.bind(executor)
  executor.compileQuery = (...args) => {
    const query = compile(...args)
    queries.push(query)
    return query
  }
  const id = await put(wallet.db)
  await eventsAfter(db, walletId, 0, 10)
  await eventsAfter(db, walletId, 0, 10, { type })
  await eventsAfter(db, walletId, 0, 10, { subject: 'thread' })
  await eventsAfter(db, walletId, 0, 10, { type, subject: 'thread' })
  await findEvent(db, walletId, id)
  await lastSequence(db)
  await lastSequenceBefore(db, newId())
  expect(queries).toHaveLength(8)
  for (const { sql: text, parameters } of queries) {
    const plan = wallet.db.executeQuery<{ detail: string }>({
      ...sql`select 1`.compile(wallet.db),
      sql: `explain query plan ${text}`,
      parameters,
    })
    for (const { detail } of (await plan).rows) expect(`${text}: ${detail}`).toMatch(/: SEARCH event\b/)
  }
})

test('old events are deleted in small batches; the newest stays, and no sequence number is reused', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  for (let n = 0; n < 50; n++) await put(db)
  const now = new Date()
  await prune(db, new Date(now.getTime() + 29 * dayMs))
  expect(await sequences(db)).toHaveLength(50)
  const later = new Date(now.getTime() + 31 * dayMs)
  await prune(db, later)
  expect((await sequences(db))[0]).toBe(21)
  await prune(db, later)
  await prune(db, later)
  await prune(db, later)
  expect(await sequences(db)).toEqual([50])
  await put(db)
  expect(await sequences(db)).toEqual([50, 51])
})

test('undelivered events stay; an event is deleted with its delivery log', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  for (let n = 0; n < 5; n++) await put(db)
  const at = new Date().toISOString()
  const webhook = (id: string, cursor: number) => ({
    id,
    url: 'http://one',
    headers: '',
    created_at: at,
    cursor,
    attempts: 0,
    due_at: at,
    deliver: 0,
  })
  await db
    .insertInto('webhook')
    .values([webhook('slow', 3), webhook('quick', 5)])
    .execute()
  const again = (event_sequence: number) => ({ webhook_id: 'slow', event_sequence, attempts: 0, due_at: at })
  await db
    .insertInto('redelivery')
    .values([again(2), again(4)])
    .execute()
  await prune(db, new Date(Date.now() + 31 * dayMs))
  expect(await sequences(db)).toEqual([4, 5])
  expect(await db.selectFrom('redelivery').select('event_sequence').execute()).toEqual([
    { event_sequence: 4 },
  ])
})

test('an agent deletes events after EVENT_RETENTION, and reports this to readers with an older cursor', async () => {
  const agent = await sharedAgent({ EVENT_RETENTION: '3600' })
  const { call, walletId: id } = await agent.newTenant()
  const [old, gone] = [
    await call('POST /events/test', { body: { type } }),
    await call('POST /events/test', { body: { type } }),
  ]
  // Makes the events old.
  await agent.agent.wallets.use(id, ({ db }) =>
    db.updateTable('event').set({ ts: '2020-01-01T00:00:00.000Z' }).execute(),
  )
  const made = []
  // Every tenth event triggers the deletion.
  for (let n = 3; n <= 10; n++) made.push(await call('POST /events/test', { body: { type } }))
  expect((await call('GET /events')).contents).toEqual(made)
  for (const after of [old.id, gone.id]) {
    await expect(call('GET /events', { query: { after } })).rejects.toMatchObject({
      problem: { status: 400 },
    })
    await expect(call('GET /events/{id}', { path: { id: after } })).rejects.toMatchObject({
      problem: { status: 404 },
    })
  }
})
