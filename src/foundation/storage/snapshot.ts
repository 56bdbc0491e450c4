/**
 * Copies of a database file at one instant, while other connections write to it.
 *
 * A read transaction sees one state of the file from its first read to its end (WAL mode,
 * https://www.sqlite.org/isolation.html). A copy that is made inside the transaction is a copy of that state.
 */
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { DamagedFileError, toStorageError } from './file-errors.ts'
import { openSqlite, type Database } from './sqlite.ts'

export type Snapshot = {
  /**
   * Writes the snapshot into a new file (0600) that has no log. The file is not flushed to the disk.
   *
   * @throws as `node:fs` does, {Problem} `InsufficientStorage`, {DamagedFileError}
   */
  copyTo(path: string): Promise<void>
  close(): void
}

/** Files up to this size are copied in memory, which takes a fiftieth of the time of SQLite's backup. */
const inMemoryBytes = 8 * 1_024 * 1_024

/**
 * Begins a snapshot of an existing file. The connection is read-only, because the last connection that can
 * write would checkpoint the log when it closes.
 *
 * @throws {DamagedFileError}
 */
export function openSnapshot(path: string): Snapshot {
  assertExists(path)
  let database: Database | undefined
  try {
    database = openSqlite(path, { readonly: true })
    database.exec('begin')
    database.prepare('select count(*) from sqlite_master').get()
    return toSnapshot(database)
  } catch (error) {
    database?.close()
    throw toStorageError(error, path)
  }
}

/** Whether a closed database has no log with unfinished checkpoints, such as a crash leaves. */
export function hasNoLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0
}

/**
 * Copies a closed database that has no log, as `copyTo` does.
 *
 * @throws {DamagedFileError} when it is missing
 */
export async function copyClosed(from: string, to: string): Promise<void> {
  assertExists(from)
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  chmodSync(to, 0o600)
  leaveWalMode(to)
}

function assertExists(path: string): void {
  if (!existsSync(path)) throw new DamagedFileError(path, 'is missing')
}

function toSnapshot(database: Database): Snapshot {
  const bytes =
    (database.pragma('page_count', { simple: true }) as number) *
    (database.pragma('page_size', { simple: true }) as number)
  return {
    async copyTo(path) {
      closeSync(openSync(path, 'wx', 0o600))
      try {
        if (bytes <= inMemoryBytes) writeFileSync(path, database.serialize())
        else await database.backup(path)
      } catch (error) {
        throw toStorageError(error, database.name)
      }
      leaveWalMode(path)
    },
    close: () => database.close(),
  }
}

/**
 * Sets bytes 18 and 19, the versions of the file format for writing and reading, to 1: no WAL
 * (https://www.sqlite.org/fileformat2.html §1.3.3).
 */
function leaveWalMode(path: string): void {
  const file = openSync(path, 'r+')
  try {
    writeSync(file, Uint8Array.of(1, 1), 0, 2, 18)
  } finally {
    closeSync(file)
  }
}
