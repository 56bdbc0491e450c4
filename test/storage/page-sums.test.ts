/** The checksums of a wallet file's pages: always those of what is committed, however the file was left. */
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { makeWalletDb, openKnownWalletDb } from '../../src/storage/database.ts'
import { examinePages } from '../../src/storage/page-sums.ts'
import { readLog, readLogEnd } from '../../src/storage/write-ahead-log.ts'
import type { WalletTables } from '../../src/storage/wallet-tables.ts'
import { temporaryFolder } from '../_daemon.ts'

let path: string
beforeEach(async () => {
  const folder = await temporaryFolder()
  onTestFinished(() => folder[Symbol.asyncDispose]())
  path = join(folder.path, 'wallet.db')
  await makeWalletDb(path, () => Promise.resolve())
})

/** Commits a row of some pages. */
const commit = (db: Kysely<WalletTables>, name: string, pages = 1) =>
  db.transaction().execute((tx) =>
    tx
      .insertInto('setting')
      .values({ name, value: name.padEnd(pages * 4_096, '.') })
      .execute(),
  )

/** The files as they would be if everything ended now, under another name. */
function crash(): string {
  for (const end of ['', '-wal', '-shm', '.sum']) copyFileSync(path + end, `${path}.crashed${end}`)
  return `${path}.crashed`
}

const names = async (file: string) => {
  const { db } = await openKnownWalletDb(file)
  const rows = await db.selectFrom('setting').select('name').orderBy('name').execute()
  await db.destroy()
  return rows.map(({ name }) => name)
}

test('a log that has become long is copied into the file, and begins anew; the checksums are right before, after and in between', async () => {
  const { db } = await openKnownWalletDb(path)
  const sizes: number[] = []
  for (let n = 0; n < 100; n++) {
    await commit(db, `row-${n}`, 40)
    sizes.push(statSync(path).size)
    if (n % 32 > 29 || n % 32 < 2) await expect(examinePages(crash())).resolves.toBeDefined()
  }
  // 1,000 pages, and what 32 commits can add to them before the log is looked at again.
  expect(readLog(path)!.frames).toBeLessThan(1_000 + 33 * 45)
  expect(sizes.at(-1)).toBeGreaterThan(sizes[0]!)
  await db.destroy()
  expect(existsSync(`${path}-wal`)).toBe(false)
  await expect(examinePages(path)).resolves.toBeDefined()
  expect(await names(path)).toHaveLength(100)
})

test('what is left after a crash holds every commit, or is refused', async () => {
  const { db } = await openKnownWalletDb(path)
  for (const name of ['one', 'two', 'three']) await commit(db, name)
  expect(readLogEnd(path)).toEqual({ salt: readLog(path)!.salt, frames: readLog(path)!.frames })
  const file = crash()
  const log = readFileSync(`${file}-wal`)
  await db.destroy()

  const { frames } = readLog(file)!
  const cut = log.subarray(0, 32 + (frames - 1) * (24 + 4_096))
  for (const [wal, reason] of [
    [cut, /its log after frame \d+ of \d+/],
    [Buffer.alloc(0), /its log \(/],
    [undefined, /its log \(/],
  ] as const) {
    if (wal === undefined) rmSync(`${file}-wal`)
    else writeFileSync(`${file}-wal`, wal)
    await expect(openKnownWalletDb(file)).rejects.toThrow(reason)
  }
  writeFileSync(`${file}-wal`, log)
  expect(await names(file)).toEqual(['one', 'three', 'two'])
})

test('a commit that never was is not missed, and no damage', async () => {
  const { db } = await openKnownWalletDb(path)
  await commit(db, 'one')
  const index = readFileSync(`${path}-shm`)
  await commit(db, 'two')
  const file = crash()
  await db.destroy()
  // The power went while the second one was being written: the index is that of the first, and the end of the log is nonsense.
  writeFileSync(`${file}-shm`, index)
  const log = readFileSync(`${file}-wal`)
  writeFileSync(`${file}-wal`, log.fill(7, log.length - 100))
  expect(await names(file)).toEqual(['one'])
})

test('what a newer release has left after a crash is still whole for it, once this one has refused it', async () => {
  const { db } = await openKnownWalletDb(path)
  await db
    .insertInto('kysely_migration' as 'setting')
    .values({ name: '999-later', timestamp: '2100-01-01T00:00:00.000Z' } as never)
    .execute()
  const file = crash()
  await db.destroy()
  await expect(openKnownWalletDb(file)).rejects.toThrow('newer release')
  await expect(examinePages(file)).resolves.toBeDefined()
})

/** Until the files are looked at again, and what the agent itself has written is told from what others write. */
const settled = () => sleep(20)
const rewrite = (file: string) => writeFileSync(file, readFileSync(file))

test('who else writes to the file, or to its log, is noticed before it is used again', async () => {
  const { db, isDue } = await openKnownWalletDb(path)
  await commit(db, 'one')
  await settled()
  expect(isDue()).toBe(false)
  await settled()
  rewrite(`${path}-wal`)
  expect(isDue()).toBe(true)
  await commit(db, 'two')
  await settled()
  expect(isDue()).toBe(false)
  // The file itself changes by nothing but the copying of the log.
  await settled()
  rewrite(path)
  await commit(db, 'three')
  expect(isDue()).toBe(true)
  await db.destroy()
})

test('who else has written to the file is noticed, though the log is copied into it before anybody looks', async () => {
  const { db, isDue } = await openKnownWalletDb(path)
  for (const isRewritten of [false, true]) {
    if (isRewritten) rewrite(path)
    const before = statSync(path).size
    for (let n = 0; n < 32; n++) await commit(db, `row-${isRewritten}-${n}`, 40)
    expect(statSync(path).size).toBeGreaterThan(before)
    await settled()
    expect(isDue()).toBe(isRewritten)
  }
  await db.destroy()
})

test('who else writes to the file while it is being examined is noticed', async () => {
  await settled()
  const opening = openKnownWalletDb(path)
  rewrite(path)
  const { db, isDue } = await opening
  expect(isDue()).toBe(true)
  await db.destroy()
})

test('a transaction that the end comes upon is taken back, and the file keeps its checksums', async () => {
  const { db } = await openKnownWalletDb(path)
  await commit(db, 'one')
  await sql`begin`.execute(db)
  // As many as the log is looked at after, and more.
  for (let n = 0; n < 40; n++)
    await db
      .insertInto('setting')
      .values({ name: `row-${n}`, value: '' })
      .execute()
  await db.destroy()
  await expect(examinePages(path)).resolves.toBeDefined()
  expect(await names(path)).toEqual(['one'])
})

test('what is written of a large file is what has changed, and all of it once in a while', async () => {
  const { db } = await openKnownWalletDb(path)
  const sizes: number[] = []
  for (let n = 0; n < 160; n++) {
    await commit(db, `row-${n}`, 250)
    const { size } = statSync(`${path}.sum`)
    if (size !== sizes.at(-1)) sizes.push(size)
  }
  const steps = sizes.slice(1).map((size, at) => size - sizes[at]!)
  // Eight bytes for each of the pages of a log, and now and then four for each page of the file instead of all that was added.
  expect(steps.filter((step) => step < 0).length).toBeGreaterThan(0)
  expect(Math.max(...steps)).toBeLessThan(8 * (1_000 + 33 * 255) + 200)
  await expect(examinePages(crash())).resolves.toBeDefined()
  await db.destroy()
  await expect(examinePages(path)).resolves.toBeDefined()
})

test('checksums that were half added, or are others, count as none', async () => {
  const { db } = await openKnownWalletDb(path)
  for (let n = 0; n < 64; n++) await commit(db, `row-${n}`, 40)
  const file = crash()
  await db.destroy()
  const whole = readFileSync(`${file}.sum`)
  await expect(examinePages(file)).resolves.toBeDefined()
  writeFileSync(`${file}.sum`, whole.subarray(0, whole.length - 9))
  await expect(examinePages(file)).resolves.toBeUndefined()
  for (const at of [3, whole.indexOf('changes') + 3, whole.length - 5]) {
    const other = Buffer.from(whole)
    other[at]! ^= 1
    writeFileSync(`${file}.sum`, other)
    await expect(examinePages(file)).resolves.toBeUndefined()
  }
  expect((await names(file)).length).toBe(64)
})
