/** Reads database files that another process or thread may have open, and changes nothing in them. Worker threads use it: keep its imports few. */
import { statSync } from 'node:fs'
import { findFault, openSqlite, type Database } from './sqlite.ts'

/** Checks a whole file with SQLite's `integrity_check`. Returns the reason when the file is damaged. */
export function findDamage(path: string): string | undefined {
  let database: Database | undefined
  try {
    if (statSync(path).size === 0) return 'it is empty'
    database = openSqlite(path, { readonly: true })
    return findFault(database)
  } catch (error) {
    return (error as Error).message
  } finally {
    database?.close()
  }
}

/** What a sound file has for tables: the name of its last migration, or the number that stands in its head. @throws as SQLite does. */
export function readSchema(path: string): string {
  const database = openSqlite(path, { readonly: true })
  try {
    const hasMigrations =
      database
        .prepare("select 1 from sqlite_master where type = 'table' and name = 'kysely_migration'")
        .get() !== undefined
    const last = hasMigrations
      ? database.prepare('select max(name) from kysely_migration').pluck().get()
      : null
    return (last as string | null) ?? String(database.pragma('user_version', { simple: true }))
  } finally {
    database.close()
  }
}
