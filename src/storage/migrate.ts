/**
 * Migrations: the steps by which a database file gets the tables of this release.
 *
 * All that a file is missing is one transaction, so a start that is killed leaves it as it was before or as it is afterwards. There is
 * no way back: a file of a newer release is refused.
 */
import { Migrator, type Kysely, type Migration } from 'kysely'
import { NewerFileError } from './file-errors.ts'
import type { Database } from './sqlite.ts'

/** By their names, in whose order they are made; never changed after a release. */
export type Migrations = Readonly<Record<string, Migration>>

/** Does what a file is missing. @throws what a migration throws; then nothing was changed. */
export async function migrate(db: Kysely<any>, migrations: Migrations): Promise<void> {
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
  }).migrateToLatest()
  if (error) throw error
}

/** Whether a file has all migrations, so that there is nothing to do. @throws {NewerFileError} when one was done in it that is not among those known. */
export function isUpToDate(database: Database, migrations: Migrations): boolean {
  const hasTable =
    database
      .prepare("select 1 from sqlite_master where type = 'table' and name = 'kysely_migration'")
      .get() !== undefined
  if (!hasTable) return false
  const done = database.prepare('select name from kysely_migration order by name').pluck().all() as string[]
  const unknown = done.findLast((name) => !Object.hasOwn(migrations, name))
  if (unknown !== undefined) throw new NewerFileError(database.name, unknown)
  return done.length === Object.keys(migrations).length
}
