/** Looks into database files that somebody else may have open, and changes nothing in them. Threads do, which are to load little. */
import { statSync } from 'node:fs'
import { stampOf } from './file-watch.ts'
import { readPageSums } from './page-sums-file.ts'
import { examinePages, findChangedPage } from './page-sums.ts'
import { findFault, openSqlite, type Database } from './sqlite.ts'
import { readLog } from './write-ahead-log.ts'

/** Whether a file `isAtRest`: no process has it open. */
export type LookAt = { isAtRest?: boolean }

/** Larger ones are not read into memory at once. */
const mostBytes = 256 * 1_024 * 1_024

/** Looks a file through: nothing when it is sound, otherwise what is wrong with it. Takes as long as reading it does. */
export async function findDamage(
  path: string,
  { isAtRest = false }: LookAt = {},
): Promise<string | undefined> {
  let database: Database | undefined
  try {
    const { size } = statSync(path)
    if (size === 0) return 'it is empty'
    // Before SQLite opens it, and tidies away what a crash has left.
    if (isAtRest && (await examinePages(path))) return undefined
    database = openSqlite(path, { readonly: true })
    return findFault(database) ?? (size > mostBytes ? undefined : findChange(database))
  } catch (error) {
    return (error as Error).message
  } finally {
    database?.close()
  }
}

/** Compares the pages of a file that a daemon may have open with their checksums. Whatever is being written meanwhile is not judged. */
function findChange(database: Database): string | undefined {
  const path = database.name
  const stamp = () => stampOf(path) + stampOf(`${path}-wal`)
  const before = stamp()
  const sums = readPageSums(path)
  if (sums === undefined) return undefined
  const page = findChangedPage(database.serialize(), sums, readLog(path))
  return page === undefined || stamp() !== before
    ? undefined
    : `page ${page} of ${sums.sums.length} is not as it was written`
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
