/** New wallet files are written at once: complete, and as SQLite would have made them. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import {
  assertWalletTables,
  type Db,
  makeWalletDb,
  openExistingWalletDb,
  openWalletDb,
} from '../../../src/foundation/storage/database.ts'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let folder: string
let path: string
beforeEach(async () => {
  const made = await temporaryFolder()
  onTestFinished(() => made[Symbol.asyncDispose]())
  folder = made.path
  path = join(folder, 'wallet.db')
})

const put = (name: string) => (db: Db) => db.insertInto('setting').values({ name, value: 'x' }).execute()

const pragmas = (file: string) => {
  const database = openSqlite(file, { readonly: true })
  const names = [
    'journal_mode',
    'page_size',
    'encoding',
    'auto_vacuum',
    'freelist_count',
    'user_version',
    'integrity_check',
  ]
  const values = names.map((name) => [name, database.pragma(name, { simple: true })] as const)
  database.close()
  return Object.fromEntries(values)
}

test('a new wallet file equals one made by SQLite, has its initial rows, and none of an earlier wallet', async () => {
  await makeWalletDb(join(folder, 'before.db'), put('of-the-one-before'))
  await makeWalletDb(path, put('its-own'))
  const stepwise = join(folder, 'stepwise.db')
  await (await openWalletDb(stepwise)).destroy()
  expect(pragmas(path)).toEqual(pragmas(stepwise))
  expect(pragmas(path)).toMatchObject({ journal_mode: 'wal', integrity_check: 'ok' })
  expect(readFileSync(path).includes('of-the-one-before')).toBe(false)
  const db = await openExistingWalletDb(path)
  await assertWalletTables(db, path)
  expect(await db.selectFrom('setting').select('name').execute()).toEqual([{ name: 'its-own' }])
  await db.destroy()
})

test('the file is readable by its owner only, with any umask, and opening does not change it', async () => {
  const old = process.umask(0)
  onTestFinished(() => void process.umask(old))
  await makeWalletDb(path, put('its-own'))
  expect(readdirSync(folder).toSorted()).toEqual(['wallet.db'])
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600)
  const before = readFileSync(path)
  const db = await openExistingWalletDb(path)
  await db.selectFrom('setting').selectAll().execute()
  await db.destroy()
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('a failure leaves no file, and an existing file is not overwritten', async () => {
  await expect(makeWalletDb(join(folder, 'missing', 'wallet.db'), put('its-own'))).rejects.toThrow('ENOENT')
  const other = join(folder, 'other.db')
  writeFileSync(other, 'another file')
  await expect(makeWalletDb(other, put('its-own'))).rejects.toThrow('EEXIST')
  expect(readFileSync(other, 'utf8')).toBe('another file')
  await expect(
    makeWalletDb(join(folder, 'third.db'), () => Promise.reject(new Error('my own fault'))),
  ).rejects.toThrow('my own fault')
  expect(readdirSync(folder).toSorted()).toEqual(['other.db'])
})
