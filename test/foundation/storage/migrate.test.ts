/** A kill while tables are created or changed leaves the file as before or as afterwards. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, expect, test } from 'vitest'
import { agentMigrations } from '../../../src/foundation/storage/migrations/agent.ts'
import { mediatorMigrations } from '../../../src/foundation/storage/migrations/mediator.ts'
import { walletMigrations } from '../../../src/foundation/storage/migrations/wallet.ts'
import type { Migrations } from '../../../src/foundation/storage/migrate.ts'
import { NewerFileError } from '../../../src/foundation/storage/file-errors.ts'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import { migrateFile, withCallback } from './_migrate-file.ts'
import { newFolder } from '../../support/folder.ts'

let folder: string
beforeEach(() => (folder = newFolder()))

/** The tables made by migrations, and the names of the applied migrations. */
function contents(path: string): { tables: string[]; done: string[] } {
  const database = openSqlite(path)
  const names = database
    .prepare("select name from sqlite_master where type = 'table'")
    .pluck()
    .all() as string[]
  const isThere = names.includes('kysely_migration')
  const done = isThere
    ? (database.prepare('select name from kysely_migration order by name').pluck().all() as string[])
    : []
  database.close()
  return { tables: names.filter((name) => !/^(?:kysely|sqlite)_/.test(name)).toSorted(), done }
}

/** Copies of the files before each statement, as a kill would leave them. */
async function imagesOf(path: string, migrations: Migrations): Promise<string[]> {
  const images: string[] = []
  const take = () => {
    const image = `${path}-${images.length}`
    for (const end of ['', '-wal']) if (existsSync(path + end)) copyFileSync(path + end, image + end)
    images.push(image)
  }
  await migrateFile(path, withCallback(migrations, take))
  take()
  return images
}

test.each([
  ['agent.db', agentMigrations, 9],
  ['mediator.db', mediatorMigrations, 9],
  ['a wallet', walletMigrations, 30],
])('creation of %s, killed at each statement', async (_, migrations, least) => {
  const path = join(folder, 'new.db')
  const images = await imagesOf(path, migrations)
  const whole = contents(path)
  expect(images.length).toBeGreaterThan(least)
  for (const [n, image] of images.entries()) {
    expect(contents(image), `${n}`).toEqual(n === images.length - 1 ? whole : { tables: [], done: [] })
    await migrateFile(image, migrations)
    expect(contents(image), `${n}`).toEqual(whole)
  }
})

/** Two later releases, with several statements each. Their names sort after all real migrations. */
const later: Migrations = {
  ...walletMigrations,
  '998-later': {
    async up(db) {
      await db.schema.createTable('later').addColumn('id', 'text').execute()
      await db.schema.alterTable('record').addColumn('later', 'text').execute()
      await db.updateTable('setting').set({ value: 'changed' }).execute()
    },
  },
  '999-last': {
    async up(db) {
      await db.schema.dropTable('ping').execute()
      await db.insertInto('later').values({ id: 'a' }).execute()
    },
  },
}

test('an upgrade over two versions, killed at each statement, leaves the old or the new version with all rows', async () => {
  const path = join(folder, 'old.db')
  await migrateFile(path, walletMigrations)
  const database = openSqlite(path)
  database.exec("insert into setting values ('seed', 'as it was')")
  database.close()
  const read = (file: string) => {
    const database = openSqlite(file)
    const value = database.prepare('select value from setting').pluck().get()
    database.close()
    return { ...contents(file), value }
  }
  const before = read(path)
  const images = await imagesOf(path, later)
  // Five statements and the end. Applied migrations do not run again.
  expect(images).toHaveLength(6)
  const after = read(path)
  expect(after).toMatchObject({
    done: [...Object.keys(walletMigrations), '998-later', '999-last'],
    value: 'changed',
  })
  for (const image of images.slice(0, -1)) {
    expect(read(image)).toEqual(before)
    await migrateFile(image, later)
    expect(read(image)).toEqual(after)
  }
  await expect(migrateFile(path, walletMigrations)).rejects.toThrow(NewerFileError)
  expect(read(path)).toEqual(after)
})

test('a failed migration changes nothing', async () => {
  const path = join(folder, 'failing.db')
  const failing: Migrations = {
    ...mediatorMigrations,
    '002-fails': { up: (db) => db.schema.createTable('account').addColumn('id', 'text').execute() },
  }
  await expect(migrateFile(path, failing)).rejects.toThrow(/already exists/)
  expect(contents(path)).toEqual({ tables: [], done: [] })
})

test('a killed process', async () => {
  const program = fileURLToPath(new URL('./_die-migrating.ts', import.meta.url))
  for (const nth of [1, 25]) {
    const path = join(folder, `${nth}.db`)
    const die = () =>
      execFileSync(process.execPath, ['--import', 'tsx', program, path, String(nth)], { stdio: 'pipe' })
    expect(die).toThrow(expect.objectContaining({ signal: 'SIGKILL' }))
    expect(contents(path)).toEqual({ tables: [], done: [] })
    await migrateFile(path, walletMigrations)
    expect(contents(path).done).toEqual(Object.keys(walletMigrations))
  }
})

test('migrations import nothing of the project, so they never change', () => {
  const folder = new URL('../../../src/foundation/storage/migrations/', import.meta.url)
  for (const name of readdirSync(folder))
    expect(readFileSync(new URL(name, folder), 'utf8'), name).not.toMatch(/from '(?!\.\.\/migrate\.ts|\.\/)/)
})
