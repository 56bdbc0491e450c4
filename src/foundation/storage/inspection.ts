/**
 * Reads database files that other connections may have open, and does not change them. Worker threads load
 * this module, so it imports little.
 */
import { statSync } from 'node:fs'
import { findFault, hasTable, openSqlite, type Database } from './sqlite.ts'

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

/**
 * The schema version of a database: the name of its last migration, or the `user_version` of its header.
 *
 * @throws as SQLite does
 */
export function readSchema(path: string): string {
  const database = openSqlite(path, { readonly: true })
  try {
    const last = hasTable(database, 'kysely_migration')
      ? database.prepare('select max(name) from kysely_migration').pluck().get()
      : null
    return (last as string | null) ?? String(database.pragma('user_version', { simple: true }))
  } finally {
    database.close()
  }
}
