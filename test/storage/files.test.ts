/** A database that takes the place of another: whole, with its own checksums, and nothing of the other one's. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesOf, replaceDatabase } from '../../src/storage/files.ts'
import { makeWalletDb, openKnownWalletDb } from '../../src/storage/database.ts'
import { pageSumsPath } from '../../src/storage/page-sums-file.ts'
import { examinePages } from '../../src/storage/page-sums.ts'
import { temporaryFolder } from '../_daemon.ts'

test('its checksums come along, or there are none; the log of the other one is gone', async () => {
  await using folder = await temporaryFolder()
  const [from, to] = [join(folder.path, 'from.db'), join(folder.path, 'to.db')]
  const make = (path: string, value: string) =>
    makeWalletDb(path, (db) => db.insertInto('setting').values({ name: 'a', value }).execute())
  const read = async () => {
    const { db } = await openKnownWalletDb(to)
    const { value } = await db
      .selectFrom('setting')
      .select('value')
      .where('name', '=', 'a')
      .executeTakeFirstOrThrow()
    await db.destroy()
    return value
  }
  await make(from, 'new')
  replaceDatabase(from, to)
  expect(await examinePages(to)).toBeDefined()
  expect(filesOf(from).filter((file) => existsSync(file))).toEqual([])

  await make(from, 'x'.repeat(10_000))
  for (const file of [pageSumsPath(from), `${to}-wal`, `${to}-shm`]) writeFileSync(file, 'of a crash')
  replaceDatabase(from, to)
  expect(await examinePages(to)).toBeUndefined()
  expect(existsSync(`${to}-wal`)).toBe(false)
  expect(await read()).toHaveLength(10_000)
})
