/** The files that a database is: its own, SQLite's log and index of the log, and the checksums of its pages. */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolder } from '../base/sync-folder.ts'
import { pageSumsPath } from './page-sums-file.ts'

/** The files of the database at a path, as far as they are there. */
export function filesOf(path: string): string[] {
  return [path, `${path}-wal`, `${path}-shm`, pageSumsPath(path)]
}

/** Removes the database at a path. */
export function removeDatabase(path: string): void {
  for (const file of filesOf(path)) rmSync(file, { force: true })
}

/**
 * Has a database, which has no log, take the place of the one at `to`, if there is one; nobody has either open. Names are on the disk when it
 * returns. While there is a file at `from` still, it has not been done, or only in part, and is to be done again.
 */
export function replaceDatabase(from: string, to: string): void {
  // The log and the checksums of one file beside another would have it taken for damaged, or damage it.
  for (const file of filesOf(to).slice(1)) rmSync(file, { force: true })
  syncFolder(dirname(to))
  renameSync(from, to)
  if (existsSync(pageSumsPath(from))) renameSync(pageSumsPath(from), pageSumsPath(to))
  syncFolder(dirname(to))
}
