/** What is copied from a log into its file is verified first: nothing that has changed since it was written gets a checksum. */
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { DamagedFileError } from '../../src/storage/damaged-file-error.ts'
import { makeWalletDb, openKnownWalletDb, type Db } from '../../src/storage/database.ts'
import { readNewest } from '../../src/storage/newest-frames.ts'
import { readLog } from '../../src/storage/write-ahead-log.ts'
import { temporaryFolder } from '../_daemon.ts'

let path: string
let db: Db
let isDue: () => boolean
beforeEach(async () => {
  const folder = await temporaryFolder()
  path = join(folder.path, 'wallet.db')
  await makeWalletDb(path, () => Promise.resolve())
  ;({ db, isDue } = await openKnownWalletDb(path))
  onTestFinished(async () => {
    await db.destroy()
    await folder[Symbol.asyncDispose]()
  })
})

const none = { salt: '', frames: 0 }
const put = (name: string, pages = 1) =>
  db.transaction().execute((tx) =>
    tx
      .insertInto('setting')
      .values({ name, value: name.padEnd(pages * 4_096, '.') })
      .execute(),
  )

/** Changes a bit of a file in its place. */
function flip(file: string, at: number): void {
  const opened = openSync(file, 'r+')
  const byte = Buffer.alloc(1)
  readSync(opened, byte, 0, 1, at)
  writeSync(opened, Buffer.from([byte[0]! ^ 4]), 0, 1, at)
  closeSync(opened)
}

test('the newest frames are what the whole log has, however long it is, and wherever one goes on from', async () => {
  for (let n = 0; n < 30; n++) {
    await put(`row-${n}`, n % 9)
    const log = readLog(path)!
    expect(readNewest(path, log.frames, none)).toEqual(log)
  }
  const log = readLog(path)!
  expect(log.frames).toBeGreaterThan(150)
  const known = { salt: log.salt, frames: 70 }
  const { pages } = readNewest(path, log.frames, known)!
  expect(pages.size).toBeLessThan(log.pages.size)
  for (const [page, sum] of pages) expect(log.pages.get(page)).toBe(sum)
  expect(readNewest(path, log.frames, log)!.pages.size).toBe(0)
  expect(readNewest(path, log.frames, { salt: 'another one', frames: log.frames })).toEqual(log)
})

test('a bit of any frame that is newest is noticed, wherever it is; one that was replaced does not matter', async () => {
  await put('one', 0)
  const { frames: replaced } = readLog(path)!
  await put('two', 0)
  const { frames } = readLog(path)!
  const whole = readNewest(path, frames, none)
  const last = 32 + (frames - 1) * (24 + 4_096)
  // Which page, how many there are, the salt, the checksum, and the page.
  for (const at of [last + 1, last + 6, last + 12, last + 20, last + 24, last + 4_119]) {
    flip(`${path}-wal`, at)
    expect(readNewest(path, frames, none)).toBeUndefined()
    flip(`${path}-wal`, at)
  }
  expect(readNewest(path, frames + 1, none)).toBeUndefined()
  // The page of the first row's commit is in the second's, too.
  flip(`${path}-wal`, 32 + (replaced - 1) * (24 + 4_096) + 2_000)
  expect(readNewest(path, frames, none)).toEqual(whole)
})

test('a bit that changes in the log is no part of the file: what was written then is refused', async () => {
  await put('row-0', 40)
  flip(`${path}-wal`, readFileSync(`${path}-wal`).indexOf('.'.repeat(4_000)) + 2_000)
  for (let n = 1; n < 64; n++) await put(`row-${n}`, 40)
  expect(isDue()).toBe(true)
  expect(readLog(path)!.frames).toBeLessThan(64 * 40)
  await db.destroy()
  await expect(openKnownWalletDb(path)).rejects.toThrow(DamagedFileError)
})
