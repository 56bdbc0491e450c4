/** Flushes of a write-ahead log: one descriptor for each database, which is closed with the database. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DamagedFileError } from '../../../src/foundation/storage/file-errors.ts'
import { createLogSync } from '../../../src/foundation/storage/log-sync.ts'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { openFiles } from './_open-files.ts'

/** The number of descriptors that this process has of a file. */
const descriptors = (path: string) => openFiles().filter((file) => file === path).length

test.runIf(process.platform === 'linux')(
  'flushes share one descriptor, also across checkpoints',
  async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'a.db')
    const database = openSqlite(path)
    database.exec('create table a (b)')
    const before = descriptors(`${path}-wal`)
    const log = createLogSync(path)
    await Promise.all([log.flush(), log.flush()])
    database.pragma('wal_checkpoint(truncate)')
    database.exec('insert into a values (1)')
    await log.flush()
    expect(descriptors(`${path}-wal`)).toBe(before + 1)
    void log.flush()
    await log.close()
    expect(descriptors(`${path}-wal`)).toBe(before)
    database.exec('insert into a values (2)')
    expect(database.prepare('select b from a').pluck().all()).toEqual([1, 2])
    database.close()
  },
)

test('a missing log is an error', async () => {
  await using folder = await temporaryFolder()
  await expect(createLogSync(join(folder.path, 'a.db')).flush()).rejects.toThrow(DamagedFileError)
})
