/** Writes in groups: what is asked for together is committed together, and each still is all or nothing by itself. */
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Tx } from '../../src/storage/database.ts'
import { Writer } from '../../src/storage/writer.ts'
import { temporaryWalletDb } from '../_wallet-db.ts'

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
  // However slow the machine is.
  const writer = new Writer(db, around, { joinMs: Infinity, groupMs: Infinity, waitMs })
  const names = async () =>
    (await db.selectFrom('setting').select('name').orderBy('name').execute()).map(({ name }) => name)
  return { db, writer, seen, names, [Symbol.asyncDispose]: () => wallet[Symbol.asyncDispose]() }
}

/** Lets the event loop turn. */
async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await setImmediate()
}

test('what is asked for together is one commit, in the order of asking, and nobody is told before it', async () => {
  await using opened = await openWriter()
  const { writer, seen, names } = opened
  const told: [number, number][] = []
  const numbers = Array.from({ length: 20 }, (_, n) => n)
  await Promise.all(
    numbers.map(async (n) => {
      const result = await writer.write(async (tx) => {
        await put(`name ${String(n).padStart(2, '0')}`)(tx)
        return n
      })
      told.push([result, seen.commits])
    }),
  )
  expect(told).toEqual(numbers.map((n) => [n, 1]))
  expect(await names()).toHaveLength(20)
})

test('a write waits for others as long as the event loop has other work', async () => {
  await using opened = await openWriter()
  const { writer, seen, names } = opened
  const first = writer.write(put('a'))
  for (let n = 0; n < 5; n++) {
    await setImmediate()
    for (const end = performance.now() + 1; performance.now() < end;);
  }
  expect(seen.commits).toBe(0)
  await Promise.all([first, writer.write(put('b'))])
  expect([await names(), seen.commits]).toEqual([['a', 'b'], 1])
})

test('of a group the one that fails is undone by itself, and gets its own error', async () => {
  await using opened = await openWriter()
  const { writer, seen, names } = opened
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

test('a commit that fails fails all of its group, and the next one goes on', async () => {
  let isBroken = true
  await using opened = await openWriter(() => {
    if (isBroken) throw new Error('no commit')
  })
  const { writer, names } = opened
  const lost = await Promise.allSettled([writer.write(put('a')), writer.write(put('b'))])
  expect(lost).toMatchObject([{ reason: { message: 'no commit' } }, { reason: { message: 'no commit' } }])
  isBroken = false
  await writer.write(put('c'))
  expect(await names()).toEqual(['c'])
})

test('one that takes the whole transaction with it fails all of its group', async () => {
  await using opened = await openWriter()
  const { writer, names } = opened
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

test('one that is asked for while others are written joins them', async () => {
  await using opened = await openWriter()
  const { writer, seen, names } = opened
  let later: Promise<unknown> | undefined
  await writer.write(async (tx) => {
    later = writer.write(put('b'))
    await put('a')(tx)
  })
  await later
  expect([await names(), seen.commits]).toEqual([['a', 'b'], 1])
})

test('what need not wait for the disk does not, unless it goes with something that does', async () => {
  await using opened = await openWriter(undefined, undefined, 5)
  const { writer, seen } = opened
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

test('what can wait does so for the next that cannot, or for whoever reads', async () => {
  await using opened = await openWriter()
  const { writer, seen, names } = opened
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

test('what can wait does so for a moment when nobody comes', async () => {
  await using opened = await openWriter(undefined, undefined, 5)
  const { writer, seen, names } = opened
  await Promise.all([writer.write(put('a'), { canWait: true }), writer.write(put('b'), { canWait: true })])
  expect([await names(), seen]).toEqual([['a', 'b'], { commits: 1, syncs: 0 }])
})

test('what can wait and was asked for while others are written does not wait for ever', async () => {
  let arrive = () => {}
  const disk = new Promise<void>((resolve) => (arrive = resolve))
  await using opened = await openWriter(undefined, () => disk, 5)
  const { writer, seen, names } = opened
  const first = writer.write(put('a'))
  while ((await names()).length === 0) await turns(1)
  const second = writer.write(put('b'), { canWait: true })
  arrive()
  await first
  await second
  expect([await names(), seen]).toEqual([['a', 'b'], { commits: 2, syncs: 1 }])
})

test('nobody is told before it is on the disk; others go on meanwhile, and what they write waits', async () => {
  let arrive = () => {}
  const disk = new Promise<void>((resolve) => (arrive = resolve))
  await using opened = await openWriter(undefined, () => disk)
  const { writer, seen, names } = opened
  const told: string[] = []
  const first = writer.write(put('a')).then(() => told.push('a'))
  while ((await names()).length === 0) await turns(1)
  const second = writer.write(put('b')).then(() => told.push('b'))
  await turns(10)
  expect([told, seen, await names()]).toEqual([[], { commits: 1, syncs: 0 }, ['a']])
  arrive()
  await Promise.all([first, second])
  expect([told, seen]).toEqual([['a', 'b'], { commits: 2, syncs: 2 }])
})

test('a disk that fails fails all of the group', async () => {
  let isBroken = true
  await using opened = await openWriter(undefined, () => {
    if (isBroken) throw new Error('no disk')
  })
  const { writer, seen } = opened
  const lost = await Promise.allSettled([writer.write(put('a')), writer.write(put('b'), { canWait: true })])
  expect(lost).toMatchObject([{ reason: { message: 'no disk' } }, { reason: { message: 'no disk' } }])
  expect(seen).toEqual({ commits: 1, syncs: 0 })
  isBroken = false
  await writer.write(put('c'))
})

test('a database that is closed says so to everybody', async () => {
  await using opened = await openWriter()
  const { db, writer } = opened
  await db.destroy()
  const results = await Promise.allSettled([
    writer.write(put('a')),
    writer.write(put('b'), { canWait: true }),
  ])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('what a commit causes begins once its callers have gone on', async () => {
  await using wallet = await temporaryWalletDb()
  const order: string[] = []
  const writer = new Writer(wallet.db, {
    before: () => Promise.resolve(),
    sync: () => Promise.resolve(),
    after: () => order.push('after'),
  })
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
