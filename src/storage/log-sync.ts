/**
 * Has what was committed to a database's log on the disk.
 *
 * With `synchronous=NORMAL` SQLite has the log on the disk before it copies it, and before it begins it anew (sqlite.org/pragma.html#pragma_synchronous);
 * what `FULL` adds is this, after each commit. The log has no locks, which closing it would lose.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { reasonOf } from '../base/reason.ts'
import { DamagedFileError } from './damaged-file-error.ts'

const flush = promisify(fdatasync)

/**
 * Resolves when all that was committed until now to the database at `path` is on the disk. Nobody's turn is taken meanwhile, whereas SQLite would
 * wait for the disk in the thread that everything else runs in.
 *
 * @throws {DamagedFileError} when the disk fails: nobody knows then how much is; and as `node:fs` does when there is no log.
 */
export async function flushLog(path: string): Promise<void> {
  const file = openSync(`${path}-wal`, 'r+')
  try {
    await flush(file)
  } catch (cause) {
    throw new DamagedFileError(path, `may lack what was written last: ${reasonOf(cause)}`, { cause })
  } finally {
    closeSync(file)
  }
}

/** The same at once. @throws as `node:fs` does. */
export function syncLog(path: string): void {
  const file = openSync(`${path}-wal`, 'r+')
  try {
    fdatasyncSync(file)
  } finally {
    closeSync(file)
  }
}
