/**
 * Migrations of database files. All that a file lacks run in one transaction, so that a killed process leaves
 * the file unchanged or complete. There are no down migrations: a file of a newer release is refused.
 */
import { Migrator, sql, type Kysely, type Migration } from 'kysely'
import { NewerFileError } from './file-errors.ts'
import { hasTable, type Database } from './sqlite.ts'

/** Migrations by name, which is their order. A released migration never changes. */
export type Migrations = Readonly<Record<string, Migration>>

/** A migration that runs statements. Those of a text are separated by semicolons. */
export function script(...parts: (string | string[])[]): Migration {
  const statements = parts.flatMap((part) => (typeof part === 'string' ? part.split(';') : part))
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db)
    },
  }
}

/** Runs the migrations that a file lacks. @throws the error of a migration; the file is unchanged then */
export async function migrate(db: Kysely<any>, migrations: Migrations): Promise<void> {
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
  }).migrateToLatest()
  if (error) throw error
}

/** Whether a file has all migrations. @throws {NewerFileError} when it has an unknown one */
export function isUpToDate(database: Database, migrations: Migrations): boolean {
  if (!hasTable(database, 'kysely_migration')) return false
  const done = database.prepare('select name from kysely_migration order by name').pluck().all() as string[]
  const unknown = done.findLast((name) => !Object.hasOwn(migrations, name))
  if (unknown !== undefined) throw new NewerFileError(database.name, unknown)
  return done.length === Object.keys(migrations).length
}
