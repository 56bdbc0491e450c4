import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { releasePages, openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import { openFiles } from './_open-files.ts'
import { newFolder } from '../../support/folder.ts'

function open(path: string, options = {}) {
  const database = openSqlite(path, options)
  onTestFinished(() => void database.close())
  return database
}

const value = (database: ReturnType<typeof openSqlite>, pragma: string) =>
  database.pragma(pragma, { simple: true })

test('every connection has the same settings for durability, waiting, foreign keys and memory', () => {
  const path = join(newFolder(), 'a.db')
  for (const database of [open(path), open(path), open(path, { readonly: true })]) {
    expect(value(database, 'journal_mode')).toBe('wal')
    expect(value(database, 'synchronous')).toBe(2)
    expect(value(database, 'busy_timeout')).toBe(5_000)
    expect(value(database, 'foreign_keys')).toBe(1)
    expect(value(database, 'cache_size')).toBe(-1_000)
  }
})

test.runIf(process.platform === 'linux')(
  'savepoint data is kept in memory, not in a file outside the folder',
  () => {
    const path = join(newFolder(), 'a.db')
    const database = open(path)
    database.exec('create table t (x)')
    const insert = database.prepare('insert into t values (?)')
    for (let n = 0; n < 100; n++) insert.run('x'.repeat(4_000))
    const before = openFiles().toSorted()
    database.exec("begin; savepoint one; update t set x = 'y' || x")
    expect(openFiles().toSorted()).toEqual(before)
    database.exec('rollback to one; commit')
    expect(database.prepare("select count(*) from t where x like 'x%'").pluck().get()).toBe(100)
  },
)

test('releasing memory keeps the page cache limit, and an open statement continues', () => {
  const database = open(join(newFolder(), 'a.db'))
  database.exec('create table t (x); insert into t values (1)')
  const read = database.prepare('select x from t')
  expect(read.get()).toEqual({ x: 1 })
  releasePages(database)
  expect(value(database, 'cache_size')).toBe(-1_000)
  database.exec('begin; update t set x = 2')
  releasePages(database)
  expect(read.get()).toEqual({ x: 2 })
  database.exec('commit')
  expect(read.get()).toEqual({ x: 2 })
})

test('the files are readable by their owner only, with any umask', () => {
  const old = process.umask(0)
  onTestFinished(() => void process.umask(old))
  const path = join(newFolder(), 'a.db')
  open(path).exec('create table t (x)')
  for (const suffix of ['', '-wal', '-shm']) expect(statSync(path + suffix).mode & 0o777).toBe(0o600)
})

test('an existing file keeps its mode and its rows', () => {
  const path = join(newFolder(), 'a.db')
  const first = openSqlite(path)
  first.exec('create table t (x); insert into t values (1)')
  first.close()
  chmodSync(path, 0o640)
  expect(open(path).prepare('select x from t').all()).toEqual([{ x: 1 }])
  expect(statSync(path).mode & 0o777).toBe(0o640)
})

test('read-only opening does not create a missing file, and writes nothing', () => {
  const path = join(newFolder(), 'a.db')
  expect(() => openSqlite(path, { readonly: true })).toThrow()
  expect(() => statSync(path)).toThrow()
  open(path).exec('create table t (x)')
  expect(() => open(path, { readonly: true }).exec('insert into t values (1)')).toThrow(/readonly/)
})

test('an in-memory database makes no file', () => {
  open(':memory:').exec('create table t (x)')
  expect(() => statSync(':memory:')).toThrow()
})

test('a file that is not a database is refused', () => {
  const path = join(newFolder(), 'a.db')
  writeFileSync(
    path,
    'this is a text of more than a hundred characters, so that SQLite looks at it. '.repeat(10),
  )
  expect(() => openSqlite(path)).toThrow(/not a database/)
})

test('opening waits for another process that creates the file', async () => {
  const path = join(newFolder(), 'a.db')
  const other = spawn(process.execPath, [
    '--import',
    'tsx',
    fileURLToPath(new URL('_lock.ts', import.meta.url)),
    path,
  ])
  onTestFinished(() => void other.kill())
  await once(other.stdout, 'data')
  const database = open(path)
  expect(value(database, 'journal_mode')).toBe('wal')
  expect(database.prepare('select x from t').all()).toEqual([{ x: 1 }])
})
