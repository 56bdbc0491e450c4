/** A log on the disk: what comes of it when there is none, and that it can be let go. */
import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLogSync, syncLog } from '../../src/storage/log-sync.ts'
import { openSqlite } from '../../src/storage/sqlite.ts'
import { temporaryFolder } from '../_daemon.ts'

/** How often this process has a file open. */
const opened = (path: string) =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path
    } catch {
      return false
    }
  }).length

test.runIf(process.platform === 'linux')('a log is opened once, and let go', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'a.db')
  const database = openSqlite(path)
  database.exec('create table a (b)')
  const before = opened(`${path}-wal`)
  const log = createLogSync(path)
  await Promise.all([log.sync(), log.sync()])
  syncLog(path)
  expect(opened(`${path}-wal`)).toBe(before + 1)
  log.close()
  log.close()
  expect(opened(`${path}-wal`)).toBe(before)
  database.exec('insert into a values (1)')
  expect(database.prepare('select b from a').pluck().all()).toEqual([1])
  database.close()
})

test('a log that is not there is not taken for one on the disk', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'a.db')
  await expect(async () => createLogSync(path).sync()).rejects.toThrow('ENOENT')
  expect(() => syncLog(path)).toThrow('ENOENT')
})
