/** The message log: limits of stored texts, and deletion of old rows. */
import { expect, test } from 'vitest'
import {
  isLogged,
  logReceived,
  logSent,
  messagesOf,
  pruneMessageLog,
} from '../../../src/wallet/outbox/message-log.ts'
import { dueJobs, enqueue, type JobBody } from '../../../src/wallet/outbox/job.ts'
import { appendEvent } from '../../../src/wallet/events/event.ts'
import { pruneLogs } from '../../../src/foundation/storage/tx-context.ts'
import type { Db, Tx } from '../../../src/foundation/storage/database.ts'
import { temporaryWalletDb } from '../../support/wallet-db.ts'

const days30 = 30 * 86_400
const dayMs = 86_400_000
const about = { id: 'm', thread: 't', type: 'https://x/y/1.0/z', from: 'did:x:from', to: 'did:x:to' }
/** Runs a transaction that also deletes old log rows, like a wallet's. */
const write = <T>(db: Db, work: (tx: Tx) => Promise<T>, retention = days30) =>
  db.transaction().execute(async (tx) => {
    const written = await work(tx)
    await pruneLogs(tx, retention)
    return written
  })
const receive = (db: Db, at: Date, id = 'm') => write(db, (tx) => logReceived(tx, { ...about, id }, { at }))

test('texts from peers are truncated', async () => {
  await using wallet = await temporaryWalletDb()
  const long = 'x'.repeat(100_000)
  await write(wallet.db, (tx) =>
    logReceived(tx, { ...about, type: long, from: long, to: long }, { at: new Date(), refusal: long }),
  )
  const [row] = await messagesOf(wallet.db, 't', 10)
  expect([row!.type, row!.from_did, row!.to_did, row!.failure].map((text) => text!.length)).toEqual([
    300, 80, 80, 1_000,
  ])
})

test('a queued message keeps its position in the log from the time of queueing', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  const body: JobBody = {
    kind: 'message',
    protocol: 'p',
    recordId: 'r',
    from: 'a',
    to: 'b',
    message: { type: 'c', body: {} },
  }
  const event = (tx: Tx) => appendEvent(tx, { type: 'ConnectionUpdated', subject: 't', data: {} })
  await write(db, async (tx) => {
    await event(tx)
    await enqueue(tx, 'queue', body)
    await event(tx)
    await event(tx)
  })
  const [job] = (await dueJobs(db)).jobs
  await write(db, (tx) =>
    logSent(tx, about, { ...job!, attempts: 2, reason: 'refused' }, { at: new Date(), durationMs: 1.6 }),
  )
  await receive(db, new Date(), 'answer')
  expect(await messagesOf(db, 't', 10)).toMatchObject([
    {
      direction: 'sent',
      outcome: 'taken',
      attempts: 3,
      duration_ms: 2,
      failure: 'refused',
      event_sequence: 1,
    },
    { direction: 'received', outcome: 'taken', attempts: null, event_sequence: 3 },
  ])
  expect([
    await isLogged(db, { thread: 't', id: 'answer' }),
    await isLogged(db, { thread: 't', id: 'm' }),
  ]).toEqual([true, false])
})

test('old rows are deleted faster than new ones arrive, and no newer rows', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  const old = new Date(Date.now() - 31 * dayMs)
  const fill = async (tx: Tx) => {
    for (let n = 0; n < 45; n++) await logReceived(tx, { ...about, thread: 'old' }, { at: old })
  }
  await write(db, fill, 40 * 86_400)
  expect(await messagesOf(db, 'old', 100)).toHaveLength(45)
  for (let n = 0; n < 20; n++) await receive(db, new Date())
  expect(await messagesOf(db, 'old', 100)).toHaveLength(5)
  await write(db, (tx) => pruneMessageLog(tx, days30))
  expect(await messagesOf(db, 'old', 100)).toEqual([])
  expect(await messagesOf(db, 't', 100)).toHaveLength(20)
})
