/** A log on the disk: it is not kept open for that, and one that is not there is not taken for it. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { flushLog, syncLog } from '../../src/storage/log-sync.ts'
import { openSqlite } from '../../src/storage/sqlite.ts'
import { temporaryFolder } from '../_daemon.ts'
import { openFiles } from './_open-files.ts'

/** How often this process has a file open. */
const opened = (path: string) => openFiles().filter((file) => file === path).length

test.runIf(process.platform === 'linux')('a log is let go again', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'a.db')
  const database = openSqlite(path)
  database.exec('create table a (b)')
  const before = opened(`${path}-wal`)
  const both = Promise.all([flushLog(path), flushLog(path)])
  expect(opened(`${path}-wal`)).toBe(before + 2)
  await both
  syncLog(path)
  expect(opened(`${path}-wal`)).toBe(before)
  database.exec('insert into a values (1)')
  expect(database.prepare('select b from a').pluck().all()).toEqual([1])
  database.close()
})

test('a log that is not there is not taken for one on the disk', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'a.db')
  await expect(flushLog(path)).rejects.toThrow('ENOENT')
  expect(() => syncLog(path)).toThrow('ENOENT')
})
