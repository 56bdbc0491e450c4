/**
 * Has what was committed to a database's log on the disk, without anybody's turn being taken meanwhile: SQLite itself would wait for the disk in the
 * thread that everything else runs in.
 *
 * With `synchronous=NORMAL` SQLite has the log on the disk before it copies it, and before it begins it anew (sqlite.org/pragma.html#pragma_synchronous);
 * what `FULL` adds is this, after each commit.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { reasonOf } from '../base/reason.ts'
import { DamagedFileError } from './damaged-file-error.ts'

export type LogSync = {
  /** Resolves when all that was committed until now is on the disk. @throws {DamagedFileError} when the disk fails: nobody knows how much is. */
  sync: () => Promise<void>
  /** Lets the log go. Nothing may be under way. */
  close: () => void
}

const toDisk = promisify(fdatasync)

/** Makes what does so for the database at `path`, whose log has to be there by the first call. */
export function createLogSync(path: string): LogSync {
  let file: number | undefined
  return {
    sync() {
      // The log has no locks, which closing it would lose. It stays the same file for as long as the database is open.
      file ??= openSync(`${path}-wal`, 'r+')
      return toDisk(file).catch((cause: unknown) => {
        throw new DamagedFileError(path, `may lack what was written last: ${reasonOf(cause)}`, { cause })
      })
    },
    close() {
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}

/** The same at once, once. */
export function syncLog(path: string): void {
  const file = openSync(`${path}-wal`, 'r+')
  try {
    fdatasyncSync(file)
  } finally {
    closeSync(file)
  }
}
