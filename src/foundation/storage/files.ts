/** The files of a database: its own, the write-ahead log, and the index of the log. */
import { renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolder } from '../private-files.ts'

/** The paths of a database's files; not all of them need to exist. */
export function filesOf(path: string): string[] {
  return [path, `${path}-wal`, `${path}-shm`, pageSumsOf(path)]
}

export function removeDatabase(path: string): void {
  for (const file of filesOf(path)) rmSync(file, { force: true })
}

/** Removes the page checksums that release 0.1.0 wrote beside the database file of a wallet. */
export function removePageSums(path: string): void {
  rmSync(pageSumsOf(path), { force: true })
}

function pageSumsOf(path: string): string {
  return `${path}.sum`
}

/**
 * Moves a database that has no log to `to`, and replaces the database there. Neither is open. The names are
 * on the disk when this returns. As long as a file exists at `from`, the move is not complete and must be
 * repeated.
 */
export function replaceDatabase(from: string, to: string): void {
  // SQLite would apply the log of the replaced database to the new one.
  for (const file of filesOf(to).slice(1)) rmSync(file, { force: true })
  syncFolder(dirname(to))
  renameSync(from, to)
  syncFolder(dirname(to))
}
