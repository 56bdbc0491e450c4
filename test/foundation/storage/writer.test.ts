/** Group commits: concurrent writes are one commit, and each of them is still all or nothing. */
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import type { Tx } from '../../../src/foundation/storage/database.ts'
import { Writer } from '../../../src/foundation/storage/writer.ts'
import { temporaryWalletDb } from '../../support/wallet-db.ts'

const put =
  (name: string, value = '') =>
  (tx: Tx) =>
    tx.insertInto('setting').values({ name, value }).execute()

async function openWriter(
  before: () => unknown = () => undefined,
  sync: () => unknown = () => undefined,
  waitMs = 10_000,
) {
  const wallet = await temporaryWalletDb()
  onTestFinished(() => wallet[Symbol.asyncDispose]())
  const { db } = wallet
  const seen = { commits: 0, syncs: 0 }
  const around = {
    before: async () => {
      await before()
      seen.commits++
    },
    sync: async () => {
      await sync()
      seen.syncs++
    },
    after: () => undefined,
  }
  // No limits, however slow the machine is.
  const writer = new Writer(db, around, { joinMs: Infinity, groupMs: Infinity, waitMs })
  const names = async () =>
    (await db.selectFrom('setting').select('name').orderBy('name').execute()).map(({ name }) => name)
  return { db, writer, seen, names }
}

/** Waits for iterations of the event loop. */
async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await setImmediate()
}

test('concurrent writes are one commit in their order, and resolve after it', async () => {
  const { writer, seen, names } = await openWriter()
  const resolved: [number, number][] = []
  const numbers = Array.from({ length: 20 }, (_, n) => n)
  await Promise.all(
    numbers.map(async (n) => {
      const result = await writer.write(async (tx) => {
        await put(`name ${String(n).padStart(2, '0')}`)(tx)
        return n
      })
      resolved.push([result, seen.commits])
    }),
  )
  expect(resolved).toEqual(numbers.map((n) => [n, 1]))
  expect(await names()).toHaveLength(20)
})

test('a write waits for others while the event loop has other work', async () => {
  const { writer, seen, names } = await openWriter()
  const first = writer.write(put('a'))
  for (let n = 0; n < 5; n++) {
    await setImmediate()
    for (const end = performance.now() + 1; performance.now() < end;);
  }
  expect(seen.commits).toBe(0)
  await Promise.all([first, writer.write(put('b'))])
  expect([await names(), seen.commits]).toEqual([['a', 'b'], 1])
})

test('a failed write of a group is rolled back alone, with its own error', async () => {
  const { writer, seen, names } = await openWriter()
  const fail = async (tx: Tx) => {
    await put('undone')(tx)
    throw new Error('of its own')
  }
  const results = await Promise.allSettled([
    writer.write(put('a')),
    writer.write(fail),
    writer.write(put('a')),
    writer.write(put('b')),
  ])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  expect(results.map((result) => result.status === 'rejected' && String(result.reason))).toEqual([
    false,
    'Error: of its own',
    expect.stringContaining('UNIQUE'),
    false,
  ])
  expect([await names(), seen.commits]).toEqual([['a', 'b'], 1])
  await expect(writer.write(fail)).rejects.toThrow('of its own')
  expect(await names()).toEqual(['a', 'b'])
})

test('a failed commit rejects all writes of its group, and later writes succeed', async () => {
  let isBroken = true
  const { writer, names } = await openWriter(() => {
    if (isBroken) throw new Error('no commit')
  })
  const lost = await Promise.allSettled([writer.write(put('a')), writer.write(put('b'))])
  expect(lost).toMatchObject([{ reason: { message: 'no commit' } }, { reason: { message: 'no commit' } }])
  isBroken = false
  await writer.write(put('c'))
  expect(await names()).toEqual(['c'])
})

test('a write that rolls the transaction back rejects all earlier writes of its group', async () => {
  const { writer, names } = await openWriter()
  const lose = async (tx: Tx) => {
    await sql`insert or rollback into setting (name, value) values ('a', '')`.execute(tx)
  }
  const results = await Promise.allSettled([
    writer.write(put('a')),
    writer.write(lose),
    writer.write(put('b')),
  ])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  expect(await names()).toEqual(['b'])
})

test('a write requested during a group joins it', async () => {
  const { writer, seen, names } = await openWriter()
  let later: Promise<unknown> | undefined
  await writer.write(async (tx) => {
    later = writer.write(put('b'))
    await put('a')(tx)
  })
  await later
  expect([await names(), seen.commits]).toEqual([['a', 'b'], 1])
})

test('a write with canWait resolves before the flush, unless its group contains a write without it', async () => {
  const { writer, seen } = await openWriter(undefined, undefined, 5)
  const later = { canWait: true }
  await writer.write(put('a'), later)
  expect(seen).toEqual({ commits: 1, syncs: 0 })
  await writer.write(put('b'))
  expect(seen).toEqual({ commits: 2, syncs: 1 })
  let joins: Promise<unknown> | undefined
  await writer.write(async () => {
    joins = writer.write(put('c'))
  }, later)
  await joins
  expect(seen).toEqual({ commits: 3, syncs: 2 })
})

test('a write with canWait waits for the next write without it, or for flush()', async () => {
  const { writer, seen, names } = await openWriter()
  const later = { canWait: true }
  const first = writer.write(put('a'), later)
  await turns(10)
  expect(await names()).toEqual([])
  await Promise.all([writer.write(put('b')), first])
  expect([await names(), seen]).toEqual([['a', 'b'], { commits: 1, syncs: 1 }])
  void writer.write(put('c'), later)
  await writer.flush()
  expect([await names(), seen]).toEqual([['a', 'b', 'c'], { commits: 2, syncs: 1 }])
})

test('a write with canWait is committed after waitMs', async () => {
  const { writer, seen, names } = await openWriter(undefined, undefined, 5)
  await Promise.all([writer.write(put('a'), { canWait: true }), writer.write(put('b'), { canWait: true })])
  expect([await names(), seen]).toEqual([['a', 'b'], { commits: 1, syncs: 0 }])
})

test('a write with canWait, requested during a flush, is committed after waitMs', async () => {
  let arrive = () => {}
  const disk = new Promise<void>((resolve) => (arrive = resolve))
  const { writer, seen, names } = await openWriter(undefined, () => disk, 5)
  const first = writer.write(put('a'))
  while ((await names()).length === 0) await turns(1)
  const second = writer.write(put('b'), { canWait: true })
  arrive()
  await first
  await second
  expect([await names(), seen]).toEqual([['a', 'b'], { commits: 2, syncs: 1 }])
})

test('a write with isLast joins no transaction before waitMs, and a flush commits it after the others', async () => {
  const { writer, names } = await openWriter()
  const order: string[] = []
  const noted = (name: string) => async (tx: Tx) => {
    order.push(name)
    await put(name)(tx)
  }
  const last = writer.write(noted('last'), { canWait: true, isLast: true })
  await writer.write(noted('a'))
  expect(await names()).toEqual(['a'])
  const others = [writer.write(noted('b')), writer.write(noted('c'))]
  await Promise.all([writer.flush(), last, ...others])
  expect(order).toEqual(['a', 'b', 'c', 'last'])
  expect(await names()).toEqual(['a', 'b', 'c', 'last'])
})

test('a write with isLast is committed after waitMs', async () => {
  const { writer, names } = await openWriter(undefined, undefined, 5)
  await writer.write(put('last'), { canWait: true, isLast: true })
  expect(await names()).toEqual(['last'])
})

test('a write with isLast outlives the failure of another one, and its own failure is that of its group', async () => {
  const { writer, names } = await openWriter(undefined, undefined, 0)
  const last = { canWait: true, isLast: true }
  const failing = () => Promise.reject(new Error('a fault of the test'))
  const lost = writer.write(failing)
  const kept = writer.write(put('a'), last)
  await expect(lost).rejects.toThrow('a fault of the test')
  await kept
  expect(await names()).toEqual(['a'])
  let goOn = () => {}
  const together = writer.write(async (tx) => {
    await new Promise<void>((resolve) => (goOn = resolve))
    await put('b')(tx)
  })
  await turns(20)
  const failed = writer.write(failing, last)
  goOn()
  expect((await Promise.allSettled([together, failed])).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
  ])
  expect(await names()).toEqual(['a'])
})

test('writes resolve after the flush; writes requested during a flush wait for the next one', async () => {
  let arrive = () => {}
  const disk = new Promise<void>((resolve) => (arrive = resolve))
  const { writer, seen, names } = await openWriter(undefined, () => disk)
  const resolved: string[] = []
  const first = writer.write(put('a')).then(() => resolved.push('a'))
  while ((await names()).length === 0) await turns(1)
  const second = writer.write(put('b')).then(() => resolved.push('b'))
  await turns(10)
  expect([resolved, seen, await names()]).toEqual([[], { commits: 1, syncs: 0 }, ['a']])
  arrive()
  await Promise.all([first, second])
  expect([resolved, seen]).toEqual([['a', 'b'], { commits: 2, syncs: 2 }])
})

test('a failed flush rejects all writes of the group', async () => {
  let isBroken = true
  const { writer, seen } = await openWriter(undefined, () => {
    if (isBroken) throw new Error('no disk')
  })
  const lost = await Promise.allSettled([writer.write(put('a')), writer.write(put('b'), { canWait: true })])
  expect(lost).toMatchObject([{ reason: { message: 'no disk' } }, { reason: { message: 'no disk' } }])
  expect(seen).toEqual({ commits: 1, syncs: 0 })
  isBroken = false
  await writer.write(put('c'))
})

test('with a closed database, every write is rejected', async () => {
  const { db, writer } = await openWriter(undefined, undefined, 5)
  await db.destroy()
  const results = await Promise.allSettled([
    writer.write(put('a')),
    writer.write(put('b'), { canWait: true }),
  ])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('`after` runs after the continuations of the writes', async () => {
  await using wallet = await temporaryWalletDb()
  const order: string[] = []
  const writer = new Writer(
    wallet.db,
    {
      before: () => Promise.resolve(),
      sync: () => Promise.resolve(),
      after: () => order.push('after'),
    },
    { joinMs: 8, groupMs: 10_000, waitMs: 50 },
  )
  const reply = async (name: string) => {
    await writer.write(put(name))
    await Promise.resolve()
    order.push(name)
  }
  await Promise.all([reply('a'), reply('b')])
  expect(order).toEqual(['a', 'b'])
  await setImmediate()
  expect(order).toEqual(['a', 'b', 'after'])
})
