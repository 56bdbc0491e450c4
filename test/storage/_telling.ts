/** Migrations of a file by themselves, with something done before each of their statements. */
import { Kysely, type KyselyPlugin, type Migration } from 'kysely'
import { createDialect } from '../../src/storage/dialect.ts'
import { isUpToDate, migrate, type Migrations } from '../../src/storage/migrate.ts'
import { openSqlite } from '../../src/storage/sqlite.ts'

/** The same migrations, telling before each of their statements. */
export function telling(migrations: Migrations, tell: () => void): Migrations {
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      tell()
      return node
    },
    transformResult: ({ result }) => Promise.resolve(result),
  }
  const entries = Object.entries(migrations).map(([name, migration]): [string, Migration] => [
    name,
    { up: (db) => migration.up(db.withPlugin(plugin)) },
  ])
  return Object.fromEntries(entries)
}

/** Brings a file up to date. */
export async function migrateFile(path: string, migrations: Migrations): Promise<void> {
  const database = openSqlite(path)
  const db = new Kysely({ dialect: createDialect(database) })
  try {
    if (!isUpToDate(database, migrations)) await migrate(db, migrations)
  } finally {
    await db.destroy()
  }
}
