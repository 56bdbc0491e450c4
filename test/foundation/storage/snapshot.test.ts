/** A copy of a file as of one instant: later writes are not in it, even if the write-ahead log is truncated. */
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { copyClosed, hasNoLog, openSnapshot } from '../../../src/foundation/storage/snapshot.ts'
import { openSqlite, type Database } from '../../../src/foundation/storage/sqlite.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

async function newDatabase() {
  const folder = await temporaryFolder()
  onTestFinished(() => folder[Symbol.asyncDispose]())
  const path = join(folder.path, 'a.db')
  const database = openSqlite(path)
  onTestFinished(() => void database.close())
  database.exec('create table thing (number integer, text text)')
  return { folder: folder.path, path, database }
}

const sum = 'select count(*) as count, coalesce(sum(number), 0) as sum from thing'

function write(database: Database, count: number, bytes: number): void {
  const insert = database.prepare('insert into thing values (?, ?)')
  database.transaction(() => {
    for (let n = 0; n < count; n++) insert.run(n, 'x'.repeat(bytes))
  })()
}

function countIn(path: string): unknown {
  const database = openSqlite(path, { readonly: true })
  try {
    return database.prepare('select count(*) from thing').pluck().get()
  } finally {
    database.close()
  }
}

test.each([
  ['a small file, copied in memory', 200],
  ['a large one, copied page by page', 12_000],
])('%s', async (_, count) => {
  const { folder, path, database } = await newDatabase()
  write(database, count, 1_000)
  const expected = database.prepare(sum).get()
  // Half of the rows are in the file now, the others in its log.
  database.pragma('wal_checkpoint(passive)')
  write(database, count / 2, 1_000)
  database.exec(`delete from thing where rowid > ${count}`)
  const snapshot = openSnapshot(path)
  const copy = join(folder, 'copy.db')
  const copying = snapshot.copyTo(copy)
  for (let n = 0; n < 5; n++) {
    database.exec('update thing set number = number + 1')
    write(database, 100, 3_000)
    database.pragma('busy_timeout = 0')
    database.pragma('wal_checkpoint(truncate)')
    // Some pages are copied in between.
    await turn()
  }
  database.exec('delete from thing where rowid % 2')
  await copying
  snapshot.close()
  expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual(['copy.db'])
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  const copied = openSqlite(copy, { readonly: true })
  onTestFinished(() => void copied.close())
  expect(copied.prepare(sum).get()).toEqual(expected)
  expect(copied.pragma('integrity_check', { simple: true })).toBe('ok')
  // The copy needs no log, which a read-only connection could not create.
  expect(copied.pragma('journal_mode', { simple: true })).toBe('delete')
  expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual(['copy.db'])
})

test('a snapshot of a missing file, or of a file that is not a database, is refused and creates nothing', async () => {
  const { folder } = await newDatabase()
  const before = readdirSync(folder).length
  expect(() => openSnapshot(join(folder, 'none.db'))).toThrow('is missing')
  expect(readdirSync(folder)).toHaveLength(before)
  writeFileSync(
    join(folder, 'text.db'),
    'not a database, but a text that is long enough to be taken for one'.repeat(20),
  )
  expect(() => openSnapshot(join(folder, 'text.db'))).toThrow(/text\.db is damaged/)
})

test('a write-ahead log that a crash left is part of the copy, and stays in place', async () => {
  const { folder, path, database } = await newDatabase()
  write(database, 10, 10)
  const left = join(folder, 'left.db')
  for (const end of ['', '-wal']) copyFileSync(path + end, left + end)
  const before = ['', '-wal'].map((end) => readFileSync(left + end))
  expect(hasNoLog(left)).toBe(false)
  const snapshot = openSnapshot(left)
  await snapshot.copyTo(join(folder, 'copy.db'))
  snapshot.close()
  expect(['', '-wal'].map((end) => readFileSync(left + end))).toEqual(before)
  expect(countIn(join(folder, 'copy.db'))).toBe(10)
})

test('a closed file is copied unchanged, without a file beside it', async () => {
  const { folder, path, database } = await newDatabase()
  write(database, 10, 10)
  database.close()
  const before = readdirSync(folder)
  expect(hasNoLog(path)).toBe(true)
  await copyClosed(path, join(folder, 'copy.db'))
  expect(readdirSync(folder).toSorted()).toEqual([...before, 'copy.db'].toSorted())
  expect(statSync(join(folder, 'copy.db')).mode & 0o777).toBe(0o600)
  expect(countIn(join(folder, 'copy.db'))).toBe(10)
  await expect(copyClosed(join(folder, 'none.db'), join(folder, 'other.db'))).rejects.toThrow('is missing')
  expect(readdirSync(folder)).not.toContain('other.db')
})

test('a copy does not overwrite an existing file', async () => {
  const { folder, path, database } = await newDatabase()
  write(database, 10, 10)
  const snapshot = openSnapshot(path)
  onTestFinished(() => snapshot.close())
  writeFileSync(join(folder, 'there.db'), 'mine')
  await expect(snapshot.copyTo(join(folder, 'there.db'))).rejects.toThrow('EEXIST')
})
