import { expect, test } from 'vitest'
import { deleteJob, dueJobs, enqueue, reschedule, type JobBody } from '../../../src/wallet/outbox/job.ts'
import type { Db, Tx } from '../../../src/foundation/storage/database.ts'
import { attachMemory, Memory } from '../../../src/foundation/storage/memory.ts'
import { JobQueue } from '../../../src/wallet/outbox/job-queue.ts'
import { temporaryWalletDb } from '../../support/wallet-db.ts'

const write = <T>(db: Db, work: (tx: Tx) => Promise<T>) => db.transaction().execute(work)
const task = (name: string): JobBody => ({ kind: 'task', protocol: 'p', recordId: 'r', task: name })
const names = async (db: Db, now?: Date) =>
  (await dueJobs(db, now)).jobs.map(({ queue, body }) => [queue, body.kind === 'task' && body.task])

test('the oldest job of each queue is due, and the next one after its deletion', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await write(db, async (tx) => {
    await enqueue(tx, 'a', task('a1'))
    await enqueue(tx, 'b', task('b1'))
    await enqueue(tx, 'a', task('a2'))
  })
  expect(await names(db)).toEqual([
    ['a', 'a1'],
    ['b', 'b1'],
  ])
  const [first] = (await dueJobs(db)).jobs
  await write(db, (tx) => deleteJob(tx, first!.id))
  expect(await names(db)).toEqual([
    ['b', 'b1'],
    ['a', 'a2'],
  ])
})

test('a rescheduled job blocks its queue and keeps its id and number of attempts', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await write(db, async (tx) => {
    await enqueue(tx, 'a', task('a1'))
    await enqueue(tx, 'a', task('a2'))
    await enqueue(tx, 'b', task('b1'))
  })
  const [first] = (await dueJobs(db)).jobs
  const later = new Date(Date.now() + 10_000)
  await write(db, (tx) => reschedule(tx, first!, later))
  expect(await names(db)).toEqual([['b', 'b1']])
  expect((await dueJobs(db)).nextAt).toEqual(later)
  expect((await dueJobs(db, later)).jobs.find(({ queue }) => queue === 'a')).toEqual({
    ...first,
    attempts: 1,
  })
})

test('a queue keeps its order when the clock is set back', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await write(db, (tx) => enqueue(tx, 'a', task('a1')))
  await write(db, (tx) => tx.updateTable('job').set({ due_at: '2020-01-01T00:00:00.000Z' }).execute())
  await write(db, (tx) => enqueue(tx, 'a', task('a2')))
  expect(await names(db)).toEqual([['a', 'a1']])
})

test('a job is due at once even if the clock is set back after its creation', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await write(db, (tx) => enqueue(tx, 'a', task('a1')))
  expect(await names(db, new Date(Date.now() - 3_600_000))).toEqual([['a', 'a1']])
})

test('due jobs are limited, skip busy queues, and are ordered by number of attempts', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await write(db, async (tx) => {
    for (const queue of ['a', 'b', 'c', 'd']) await enqueue(tx, queue, task(`${queue}1`))
  })
  const [first] = (await dueJobs(db)).jobs
  await write(db, (tx) => reschedule(tx, first!, new Date(0)))
  const queues = async (options: { busy?: string[]; limit?: number }) =>
    (await dueJobs(db, new Date(), options)).jobs.map(({ queue }) => queue)
  expect(await queues({})).toEqual(['b', 'c', 'd', 'a'])
  expect(await queues({ busy: ['b', 'd'] })).toEqual(['c', 'a'])
  expect(await queues({ busy: ['b'], limit: 1 })).toEqual(['c'])
  expect(await queues({ limit: 0 })).toEqual([])
})

test('a job is parsed when it is read: a malformed one does not run', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await write(db, (tx) => enqueue(tx, 'a', task('a1')))
  await write(db, (tx) => tx.updateTable('job').set({ body: '{"kind":"gift"}' }).execute())
  await expect(dueJobs(db)).rejects.toThrow(/kind/)
})

test('a wallet with many jobs gives the same due jobs as one with few', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  const now = Date.now()
  await write(db, async (tx) => {
    for (const queue of ['a', 'b', 'c', 'd', 'a', 'b']) await enqueue(tx, queue, task(queue))
  })
  const [a, b, c] = (await dueJobs(db)).jobs
  await write(db, async (tx) => {
    await reschedule(tx, a!, new Date(now + 60_000), new Date(now))
    await reschedule(tx, b!, new Date(now + 30_000), new Date(now))
    await reschedule(tx, c!, new Date(0))
  })
  const looks = [{}, { limit: 1 }, { limit: 2 }, { busy: ['a'] }, { busy: ['b', 'd'] }]
  const look = async () => {
    const found = []
    for (const options of looks) {
      const busy = [...(options.busy ?? []), 'other']
      found.push(await dueJobs(db, new Date(now), { ...options, busy }))
    }
    return found
  }
  const few = await look()
  expect(few[0]).toMatchObject({ nextAt: new Date(now + 30_000), waiting: { count: 6 } })
  await write(db, async (tx) => {
    for (let n = 0; n < 50; n++) await enqueue(tx, 'other', task('other'))
  })
  const many = await look()
  expect(many).toEqual(few.map((each) => ({ ...each, waiting: { ...each.waiting, count: 56 } })))
})

test('a job that a read beside its commit has found already is remembered once', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  const memory = new Memory()
  attachMemory(db, memory)
  const queue = memory.of(JobQueue)!
  await write(db, (tx) => enqueue(tx, 'a', task('a1')))
  expect(await names(db)).toEqual([['a', 'a1']])
  // The notes of the commit follow the read.
  for (const row of queue.rows!) queue.add({ ...row })
  expect(queue.rows).toHaveLength(1)
  expect(await names(db)).toEqual([['a', 'a1']])
})

test('a planned job is due at its time, and does not count as waiting until then', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  const dueAt = new Date(Date.now() + 3_600_000)
  await write(db, (tx) => enqueue(tx, 'planned', task('later'), dueAt))
  expect(await dueJobs(db)).toEqual({ jobs: [], nextAt: dueAt })
  expect(await names(db, dueAt)).toEqual([['planned', 'later']])
  await write(db, async (tx) => {
    for (let n = 0; n < 50; n++) await enqueue(tx, 'now', task('now'))
  })
  expect(await dueJobs(db)).toMatchObject({ nextAt: dueAt, waiting: { count: 50 } })
})
