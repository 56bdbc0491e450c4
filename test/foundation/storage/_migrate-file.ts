/** Runs migrations of one file, with a callback before each of their statements. */
import { Kysely, type KyselyPlugin, type Migration } from 'kysely'
import { createDialect } from '../../../src/foundation/storage/dialect.ts'
import { isUpToDate, migrate, type Migrations } from '../../../src/foundation/storage/migrate.ts'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'

/** The same migrations, with a callback before each statement. */
export function withCallback(migrations: Migrations, callback: () => void): Migrations {
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      callback()
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

/** Migrates a file. */
export async function migrateFile(path: string, migrations: Migrations): Promise<void> {
  const database = openSqlite(path)
  const db = new Kysely({ dialect: createDialect(database) })
  try {
    if (!isUpToDate(database, migrations)) await migrate(db, migrations)
  } finally {
    await db.destroy()
  }
}
