/** A full disk: writes get 507, nothing is half done, reads continue, and work resumes when there is space. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { eventsAfter } from '../../../src/wallet/events/event.ts'
import type { Db } from '../../../src/foundation/storage/database.ts'
import { sharedAgent, type TestAgent } from '../../support/agent.ts'
import { connectionIn, oobOf, refusal, startPair, until, type Tenant } from '../../support/tenants.ts'
import { temporaryWalletDb } from '../../support/wallet-db.ts'

const use = <T>({ agent }: TestAgent, { walletId }: Tenant, work: (db: Db) => Promise<T>) =>
  agent.wallets.use(walletId, ({ db }) => work(db))

/** Limits a database to its current pages. SQLite reports the same error as for a full disk. */
async function fill(db: Db): Promise<void> {
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(db)
  await sql.raw(`pragma max_page_count = ${rows[0]!.page_count}`).execute(db)
}
const makeRoom = (db: Db) => sql`pragma max_page_count = 1073741823`.execute(db)

test('HTTP requests get 507, reads continue, nothing is half done, and no restart is needed', async () => {
  const agent = await sharedAgent()
  const tenant = await agent.newTenant()
  const invite = () => tenant.call('POST /connections', { body: { label: 'x'.repeat(200) } })
  await invite()
  await use(agent, tenant, fill)
  let made = 1
  const problem = await refusal(
    (async () => {
      for (;;) {
        await invite()
        made++
      }
    })(),
  )
  expect(problem).toMatchObject({
    status: 507,
    type: 'error:InsufficientStorage',
    detail: expect.stringContaining('full'),
  })
  for (let n = 0; n < 5; n++) expect((await refusal(invite())).status).toBe(507)
  expect((await tenant.call('GET /connections', { query: { limit: 100 } })).contents).toHaveLength(
    Math.min(made, 100),
  )
  const count = (db: Db) =>
    Promise.all([db.selectFrom('record').selectAll().execute(), eventsAfter(db, tenant.walletId, 0, 1_000)])
  const [records, events] = await use(agent, tenant, count)
  expect([records.length, events.length]).toEqual([made, made])
  await use(agent, tenant, makeRoom)
  await invite()
})

test('DIDComm senders get a status that makes them retry, and no step is lost or half done', async () => {
  await using pair = await startPair()
  const { issuer, holder } = pair
  const made = await issuer.call('POST /connections', { body: {} })
  await use(pair.agent, issuer, async (db) => {
    await fill(db)
    // Fill the last pages.
    for (let n = 0; ; n++) {
      const value = 'x'.repeat(300)
      const full = await db
        .insertInto('setting')
        .values({ name: `filler-${n}`, value })
        .execute()
        .then(
          () => false,
          () => true,
        )
      if (full) break
    }
  })
  await holder.call('POST /connection-invitations', { body: { invitation: oobOf(made) } })
  const waiting = await until(
    'an attempt that failed',
    async () => (await holder.call('GET /connections', { query: { thid: made.thid } })).contents[0]!,
    ({ metaLastFailure }) => metaLastFailure !== undefined,
  )
  expect(waiting).toMatchObject({
    state: 'ConnectionRequestPending',
    metaLastFailure: { detail: expect.stringContaining('507') },
  })
  expect((await issuer.call('GET /connections')).contents.map(({ state }) => state)).toEqual([
    'InvitationGenerated',
  ])
  await use(pair.agent, issuer, makeRoom)
  await connectionIn(holder.call, made.thid, 'ConnectionResponseReceived')
  await connectionIn(issuer.call, made.thid, 'ConnectionResponseSent')
  const events = await use(pair.agent, issuer, (db) => eventsAfter(db, issuer.walletId, 0, 100))
  expect(events.map(({ event }) => event.data.state)).toEqual([
    'InvitationGenerated',
    'ConnectionRequestReceived',
    'ConnectionResponsePending',
    'ConnectionResponseSent',
  ])
})

test('statements in a transaction that SQLite rolled back are refused, even if the error was ignored', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await fill(db)
  const value = 'x'.repeat(4_000)
  const write = db.transaction().execute(async (tx) => {
    await tx.insertInto('setting').values({ name: 'first', value: 'short' }).execute()
    for (let n = 0; n < 50; n++) {
      await tx
        .insertInto('setting')
        .values({ name: `long ${n}`, value })
        .execute()
        .catch(() => undefined)
    }
    await tx.insertInto('setting').values({ name: 'last', value: 'short' }).execute()
  })
  await expect(write).rejects.toThrow()
  expect(await db.selectFrom('setting').selectAll().execute()).toEqual([])
  await makeRoom(db)
  await db
    .transaction()
    .execute((tx) => tx.insertInto('setting').values({ name: 'afterwards', value }).execute())
  expect(await db.selectFrom('setting').select('name').execute()).toEqual([{ name: 'afterwards' }])
})
