import { expect, test } from 'vitest'
import type { Debt } from '../../src/outbox/debt.ts'
import { done, due, put, putOff } from '../../src/outbox/outbox.ts'
import type { Db, Tx } from '../../src/storage/database.ts'
import { temporaryWalletDb } from '../_wallet-db.ts'

const write = <T>(db: Db, work: (tx: Tx) => Promise<T>) => db.transaction().execute(work)
const work = (name: string): Debt => ({ kind: 'work', protocol: 'p', recordId: 'r', work: name })
const names = async (db: Db, now?: Date) => (await due(db, now)).owing.map(({ lane, debt }) => [lane, debt.kind === 'work' && debt.work])

test('the oldest debt of every lane is due, and the next one when that is paid', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await write(db, async (tx) => {
    await put(tx, 'a', work('a1'))
    await put(tx, 'b', work('b1'))
    await put(tx, 'a', work('a2'))
  })
  expect(await names(db)).toEqual([
    ['a', 'a1'],
    ['b', 'b1'],
  ])
  const [first] = (await due(db)).owing
  await write(db, (tx) => done(tx, first!.id))
  expect(await names(db)).toEqual([
    ['b', 'b1'],
    ['a', 'a2'],
  ])
})

test('a debt that is put off keeps its lane waiting, its id, and the count of attempts', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await write(db, async (tx) => {
    await put(tx, 'a', work('a1'))
    await put(tx, 'a', work('a2'))
    await put(tx, 'b', work('b1'))
  })
  const [first] = (await due(db)).owing
  const later = new Date(Date.now() + 10_000)
  await write(db, (tx) => putOff(tx, first!, later))
  expect(await names(db)).toEqual([['b', 'b1']])
  expect((await due(db)).nextAt).toEqual(later)
  expect((await due(db, later)).owing.find(({ lane }) => lane === 'a')).toEqual({ ...first, attempts: 1 })
})

test('a lane keeps its order though the clock is set back', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await write(db, (tx) => put(tx, 'a', work('a1')))
  await write(db, (tx) => tx.updateTable('outbox').set({ due_at: '2020-01-01T00:00:00.000Z' }).execute())
  await write(db, (tx) => put(tx, 'a', work('a2')))
  expect(await names(db)).toEqual([['a', 'a1']])
})

test('a debt is due at once though the clock is set back after its promising', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await write(db, (tx) => put(tx, 'a', work('a1')))
  expect(await names(db, new Date(Date.now() - 3_600_000))).toEqual([['a', 'a1']])
})

test('no more is read than asked for, nothing of a busy lane, and what was tried least comes first', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await write(db, async (tx) => {
    for (const lane of ['a', 'b', 'c', 'd']) await put(tx, lane, work(`${lane}1`))
  })
  const [first] = (await due(db)).owing
  await write(db, (tx) => putOff(tx, first!, new Date(0)))
  const lanes = async (options: { busy?: string[]; limit?: number }) => (await due(db, new Date(), options)).owing.map(({ lane }) => lane)
  expect(await lanes({})).toEqual(['b', 'c', 'd', 'a'])
  expect(await lanes({ busy: ['b', 'd'] })).toEqual(['c', 'a'])
  expect(await lanes({ busy: ['b'], limit: 1 })).toEqual(['c'])
  expect(await lanes({ limit: 0 })).toEqual([])
})

test('a debt is parsed when it is read: what is no debt is not paid', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  await write(db, (tx) => put(tx, 'a', work('a1')))
  await write(db, (tx) => tx.updateTable('outbox').set({ body: '{"kind":"gift"}' }).execute())
  await expect(due(db)).rejects.toThrow(/kind/)
})
