/** What a process remembers of a database is what the database has. */
import { expect, onTestFinished, test } from 'vitest'
import type { Db, Tx } from '../../../src/foundation/storage/database.ts'
import {
  attachMemory,
  changeAtCommit,
  Memory,
  readWhole,
  rememberRows,
  type Part,
} from '../../../src/foundation/storage/memory.ts'
import { notesOf, withNotes } from '../../../src/foundation/storage/tx-context.ts'
import { Writer } from '../../../src/foundation/storage/writer.ts'
import { temporaryWalletDb } from '../../support/wallet-db.ts'

const read = (db: Db, name: string) =>
  db.selectFrom('setting').select('value').where('name', '=', name).executeTakeFirst()

/** The rows of the table `setting`. */
const settings = rememberRows('settings', read)

/** Their names, if they were read as a whole. */
class Names implements Part {
  readonly name = 'names'
  names: readonly string[] | undefined

  forget() {
    this.names = undefined
  }

  async compare(db: Db) {
    return { remembered: this.names ?? null, stored: this.names ? await namesIn(db) : null }
  }
}

const namesIn = async (db: Db) =>
  (await db.selectFrom('setting').select('name').orderBy('name').execute()).map(({ name }) => name)

/** `faultOf` may return the error that a commit reports although it has happened. */
async function openMemory(faultOf: () => Error | undefined = () => undefined) {
  const wallet = await temporaryWalletDb()
  onTestFinished(() => wallet[Symbol.asyncDispose]())
  const { db } = wallet
  const memory = new Memory()
  attachMemory(db, memory)
  const writer = new Writer(db, {
    async begin(tx) {
      attachMemory(tx, memory)
      await memory.check(tx)
    },
    before: () => Promise.resolve(),
    committed(tx) {
      const fault = faultOf()
      if (fault) throw fault
      memory.committed(notesOf(tx))
    },
    sync: () => Promise.resolve(),
    after: () => undefined,
    failed: () => memory.forget(),
  })
  const write = <T>(work: (tx: Tx) => Promise<T>) => writer.write((tx) => withNotes(tx, work))
  const seen = { reads: 0 }
  const find = async (name: string) => {
    const row = await settings.find(db, name, () => {
      seen.reads++
      return read(db, name)
    })
    return row?.value
  }
  return { db, memory, write, find, seen }
}

const put =
  (name: string, value: string, fault?: Error) =>
  async (tx: Tx): Promise<void> => {
    await tx
      .insertInto('setting')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute()
    settings.note(tx, name, { value })
    changeAtCommit(tx, Names, (known) => {
      known.names = known.names && [...new Set([...known.names, name])].toSorted()
    })
    if (fault) throw fault
  }

test('what a transaction has written is not read again, by itself at once and by others from the commit on', async () => {
  const { db, write, find, seen } = await openMemory()
  await write(async (tx) => {
    await put('a', 'one')(tx)
    expect(await settings.find(tx, 'a')).toEqual({ value: 'one' })
    expect(settings.recall(db, 'a')).toBeUndefined()
  })
  expect([await find('a'), seen.reads]).toEqual(['one', 0])
})

test('what was read once is not read again, until it is changed or forgotten', async () => {
  const { memory, write, find, seen } = await openMemory()
  expect([await find('a'), await find('a'), seen.reads]).toEqual([undefined, undefined, 2])
  await write(put('a', 'one'))
  memory.forget()
  expect([await find('a'), await find('a'), seen.reads]).toEqual(['one', 'one', 3])
  await write(put('a', 'two'))
  expect([await find('a'), seen.reads]).toEqual(['two', 3])
  await write(async (tx) => {
    await tx.deleteFrom('setting').where('name', '=', 'a').execute()
    settings.note(tx, 'a')
    expect(await settings.find(tx, 'a')).toBeUndefined()
  })
  expect(await find('a')).toBeUndefined()
})

test('the notes of a failed write are dropped, and those of its group stay', async () => {
  const { write, find } = await openMemory()
  await write(put('a', 'before'))
  const fault = new Error('a fault of the test')
  const found: unknown[] = []
  const ends = await Promise.allSettled([
    write(put('b', 'first')),
    write(put('a', 'lost', fault)),
    write(async (tx) => void found.push(await settings.find(tx, 'a'), await settings.find(tx, 'b'))),
  ])
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(found).toEqual([{ value: 'before' }, { value: 'first' }])
  expect([await find('a'), await find('b')]).toEqual(['before', 'first'])
  // The comparison at its start would find a difference.
  await write(() => Promise.resolve())
})

test('a rolled back transaction leaves what was remembered, also if it had read it', async () => {
  const { write, find, seen } = await openMemory()
  await write(put('a', 'before'))
  const fault = new Error('a fault of the test')
  const lost = write(async (tx) => {
    expect(await settings.find(tx, 'a')).toEqual({ value: 'before' })
    await put('a', 'lost', fault)(tx)
  })
  await expect(lost).rejects.toBe(fault)
  expect([await find('a'), seen.reads]).toEqual(['before', 0])
})

test('a commit that reports a failure and has happened makes it forget everything', async () => {
  const fault = new Error('a fault of the test')
  const faults: Error[] = []
  const { write, find, seen } = await openMemory(() => faults.shift())
  await write(put('a', 'one'))
  faults.push(fault)
  await expect(write(put('a', 'two'))).rejects.toBe(fault)
  expect([await find('a'), seen.reads]).toEqual(['two', 1])
})

test('a read that overlaps a commit is not remembered', async () => {
  const { db, memory, write, find } = await openMemory()
  await write(put('a', 'old'))
  memory.forget()
  const overlapping = settings.find(db, 'a', async () => {
    const old = await read(db, 'a')
    await write(put('a', 'new'))
    memory.forget()
    return old
  })
  expect(await overlapping).toEqual({ value: 'old' })
  expect(await find('a')).toBe('new')
})

test('what is read as a whole follows the commits', async () => {
  const { db, memory, write } = await openMemory()
  const names = memory.of(Names)!
  const readNames = () =>
    readWhole(
      db,
      () => namesIn(db),
      (found) => (names.names = found),
    )
  const before = await readNames()
  await write(put('a', 'one'))
  expect(names.names).toEqual([...before, 'a'].toSorted())
  await Promise.allSettled([write(put('b', '')), write(put('c', '', new Error('a fault of the test')))])
  expect(names.names).toEqual(await namesIn(db))
})

test('the least recently used rows of all databases are forgotten', async () => {
  const [one, other] = [await openMemory(), await openMemory()]
  await one.write(put('a', 'a'))
  expect([await one.find('a'), one.seen.reads]).toEqual(['a', 0])
  for (let n = 0; n < 10_000; n++) await settings.find(other.db, `${n}`, () => Promise.resolve({ value: '' }))
  expect([await one.find('a'), one.seen.reads]).toEqual(['a', 1])
  other.memory.forget()
  expect([await one.find('a'), one.seen.reads]).toEqual(['a', 1])
})

test('the comparison finds a row that was changed without a note', async () => {
  const { db, write } = await openMemory()
  await write(put('a', 'one'))
  await db.updateTable('setting').set({ value: 'two' }).where('name', '=', 'a').execute()
  await expect(write(() => Promise.resolve())).rejects.toThrow(/the settings .*one.* the database .*two/)
})

test('after its end it remembers nothing', async () => {
  const { memory, write, find, seen } = await openMemory()
  await write(put('a', 'one'))
  memory.end()
  await write(put('a', 'two'))
  expect([await find('a'), await find('a'), seen.reads]).toEqual(['two', 'two', 2])
  expect(memory.of(Names)).toBeUndefined()
})
