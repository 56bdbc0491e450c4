/** Checks of database files, intact and damaged, during writes, in the main thread and in a worker. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { databaseFiles, toFilesFinding, checkFiles } from '../../../src/operations/doctor/database-files.ts'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import { withDetail } from '../../support/detail.ts'
import { newFolder } from '../../support/folder.ts'

function newDatabase(folder: string, name: string) {
  const path = join(folder, name)
  const database = openSqlite(path)
  database.exec('create table thing (id integer primary key, text text)')
  for (let n = 0; n < 200; n++) database.prepare('insert into thing (text) values (?)').run('x'.repeat(100))
  return { path, database }
}

/** Creates a file and overwrites some of its pages. */
function newDamaged(folder: string, name: string): string {
  const { path, database } = newDatabase(folder, name)
  database.close()
  const bytes = readFileSync(path)
  for (let at = 4_096; at < bytes.length; at += 4_096) bytes.fill(0xff, at, at + 64)
  writeFileSync(path, bytes)
  return path
}

test.each([
  ['here', 1_000_000],
  ['in a thread', 0],
])('%s, damage is named and intact files are well, during writes', async (_, smallBytes) => {
  const folder = newFolder()
  const { path, database } = newDatabase(folder, 'open.db')
  onTestFinished(() => void database.close())
  const damaged = newDamaged(folder, 'damaged.db')
  const text = join(folder, 'text.db')
  writeFileSync(text, 'no database, for longer than the hundred bytes of a header'.repeat(5))
  const empty = join(folder, 'empty.db')
  writeFileSync(empty, '')
  database.exec('begin immediate; insert into thing (text) values (1)')
  const paths = [path, damaged, text, empty, join(folder, 'absent.db')]
  const result = await checkFiles(paths, { timeMs: 20_000, smallBytes })
  database.exec('commit')
  expect(result).toMatchObject({ sound: 1, unchecked: [] })
  expect(result.damaged.map((each) => each.path).toSorted()).toEqual([damaged, empty, text].toSorted())
  expect(toFilesFinding(folder, result)).toMatchObject({
    status: 'failed',
    detail: expect.stringMatching(/\.db in .* is damaged, as are 2 more: /),
  })
})

test.each([{ timeMs: -1 }, { largestBytes: 4_096 }])(
  'files that exceed the time or size limit are counted, %o',
  async (options) => {
    const folder = newFolder()
    const { path, database } = newDatabase(folder, 'one.db')
    database.close()
    const result = await checkFiles([path], options)
    expect(result).toEqual({ sound: 0, damaged: [], unchecked: [path] })
    expect(toFilesFinding(folder, result)).toEqual(
      withDetail('ok', '1 more are too large or too many to check now'),
    )
  },
)

test('a deep examination checks the files of all wallets', () => {
  const ids = Array.from({ length: 150 }, (_, index) => `wallet-${index}`)
  const config = { AGENT_DATA_DIR: '/data', VDR_URL: undefined }
  expect(databaseFiles(config, ids)).toHaveLength(4 + 100)
  expect(databaseFiles(config, ids, true)).toHaveLength(4 + 150)
})

test('a file that is not open keeps every byte', async () => {
  const folder = newFolder()
  const { path, database } = newDatabase(folder, 'one.db')
  database.close()
  const before = readFileSync(path)
  await checkFiles([path])
  expect(readFileSync(path).equals(before)).toBe(true)
  expect(readdirSync(folder).filter((name) => !/^one\.db(-wal|-shm)?$/.test(name))).toEqual([])
})
