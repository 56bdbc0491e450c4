/**
 * The transactions of a wallet, over SQLite files and over PostgreSQL (`TEST_STORE`): the code that uses them
 * is the same.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Tx } from '../../../src/foundation/storage/database.ts'
import type { Wallet } from '../../../src/wallet/wallet.ts'
import { startAgent, type TestAgent } from '../../support/agent-from-sources.ts'

let agent: TestAgent
beforeAll(async () => void (agent = await startAgent()))
afterAll(() => agent[Symbol.asyncDispose]())

type Store = Pick<Wallet, 'db'> & { transaction<T>(this: void, write: (tx: Tx) => Promise<T>): Promise<T> }

/** Works with the rows of a new wallet. */
async function withWallet<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const { id } = await agent.agent.wallets.create({ name: 'wallet' })
  return agent.agent.wallets.use(id, (wallet) =>
    work({ db: wallet.db, transaction: (write) => wallet.transaction(write) }),
  )
}

const put = (tx: Tx, name: string, value = '') => tx.insertInto('setting').values({ name, value }).execute()

type Reader = Pick<Wallet['db'], 'selectFrom'>
const find = async (db: Reader, name: string) =>
  (await db.selectFrom('setting').select('value').where('name', '=', name).executeTakeFirst())?.value
const names = async (db: Reader) =>
  (
    await db.selectFrom('setting').select('name').where('name', 'like', 'own %').orderBy('name').execute()
  ).map(({ name }) => name)

test('a transaction reads its own writes, and others read them when it has resolved', () =>
  withWallet(async ({ db, transaction }) => {
    const inside = await transaction(async (tx) => {
      await put(tx, 'own name', 'first')
      await tx.updateTable('setting').set({ value: 'second' }).where('name', '=', 'own name').execute()
      return find(tx, 'own name')
    })
    expect(inside).toBe('second')
    expect(await find(db, 'own name')).toBe('second')
  }))

test('a transaction that throws leaves nothing', () =>
  withWallet(async ({ db, transaction }) => {
    const failed = transaction(async (tx) => {
      await put(tx, 'own first')
      await put(tx, 'own second')
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    expect(await names(db)).toEqual([])
  }))

test('of transactions at the same time, one that throws or fails undoes only itself', () =>
  withWallet(async ({ db, transaction }) => {
    await transaction((tx) => put(tx, 'own 0'))
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) =>
        transaction(async (tx) => {
          await put(tx, `own ${index + 1}`)
          if (index % 3 === 1) throw new Error('no')
          // The name is taken: the database refuses the statement.
          if (index % 3 === 2) await put(tx, 'own 0')
        }),
      ),
    )
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual(
      outcomes.map((_, index) => index % 3 === 0),
    )
    expect(await names(db)).toEqual(['own 0', 'own 1', 'own 10', 'own 4', 'own 7'])
  }))

test('transactions run one after the other, in the order of their calls, so that none overwrites another', () =>
  withWallet(async ({ db, transaction }) => {
    await transaction((tx) => put(tx, 'own counter', '0'))
    const read = await Promise.all(
      Array.from({ length: 30 }, () =>
        transaction(async (tx) => {
          const value = await find(tx, 'own counter')
          await tx
            .updateTable('setting')
            .set({ value: String(Number(value) + 1) })
            .where('name', '=', 'own counter')
            .execute()
          return Number(value)
        }),
      ),
    )
    expect(read).toEqual(Array.from({ length: 30 }, (_, each) => each))
    expect(await find(db, 'own counter')).toBe('30')
  }))

test('a name that is taken is refused, kept or replaced, as the statement says', () =>
  withWallet(async ({ db, transaction }) => {
    await transaction((tx) => put(tx, 'own name', 'first'))
    await expect(transaction((tx) => put(tx, 'own name', 'second'))).rejects.toThrow()
    const insert = (tx: Tx) => tx.insertInto('setting').values({ name: 'own name', value: 'third' })
    const kept = await transaction((tx) =>
      insert(tx)
        .onConflict((conflict) => conflict.doNothing())
        .returning('value')
        .executeTakeFirst(),
    )
    expect([kept, await find(db, 'own name')]).toEqual([undefined, 'first'])
    const replaced = await transaction((tx) =>
      insert(tx)
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: 'third' }))
        .returning('value')
        .executeTakeFirst(),
    )
    expect([replaced, await find(db, 'own name')]).toEqual([{ value: 'third' }, 'third'])
  }))

test('a statement can be repeated with other values, also while it runs', () =>
  withWallet(async ({ db, transaction }) => {
    const texts = ['plain', 'ünïcödé 🦊', "'; drop table setting; --", '$1 ? :name', '', 'x'.repeat(100_000)]
    await transaction(async (tx) => {
      for (const [index, text] of texts.entries()) await put(tx, `own ${index}`, text)
    })
    expect(await Promise.all(texts.map((_, index) => find(db, `own ${index}`)))).toEqual(texts)
  }))

test('counts are numbers, and an update tells how many rows it has changed', () =>
  withWallet(async ({ db, transaction }) => {
    await transaction(async (tx) => {
      for (const name of ['own a', 'own b', 'own c']) await put(tx, name)
    })
    const own = db.selectFrom('setting').where('name', 'like', 'own %')
    const { count } = await own
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    expect(count).toBe(3)
    const { numUpdatedRows } = await transaction((tx) =>
      tx
        .updateTable('setting')
        .set({ value: 'x' })
        .where('name', '>=', 'own b')
        .where('name', '<', 'own d')
        .executeTakeFirst(),
    )
    expect(Number(numUpdatedRows)).toBe(2)
    const { numDeletedRows } = await transaction((tx) =>
      tx.deleteFrom('setting').where('name', '=', 'own a').executeTakeFirst(),
    )
    expect(Number(numDeletedRows)).toBe(1)
  }))

test('wallets are apart: the same names, other values', () =>
  withWallet((first) =>
    withWallet(async (second) => {
      await first.transaction((tx) => put(tx, 'own name', 'first'))
      expect(await find(second.db, 'own name')).toBeUndefined()
      await second.transaction((tx) => put(tx, 'own name', 'second'))
      await second.transaction((tx) => tx.deleteFrom('setting').where('name', '=', 'own name').execute())
      expect(await find(first.db, 'own name')).toBe('first')
    }),
  ))
