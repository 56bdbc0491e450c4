/**
 * A database file held as it is at an instant, and copied, whoever writes to it meanwhile.
 *
 * A read transaction sees one state of the file from its first read to its end (WAL, https://www.sqlite.org/isolation.html), and what copies
 * pages inside of it copies that state.
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

export type Pinned = {
  /**
   * Writes that state into a new file, 0600, that is whole by itself: no log belongs to it. It is not flushed to the disk.
   *
   * @throws as `node:fs` does, {Problem} `InsufficientStorage`, {DamagedFileError}.
   */
  copyTo(path: string): Promise<void>
  /** Lets go of it. */
  close(): void
}

/** A file of this size is copied in memory, which takes a fiftieth of the time; what is larger would take too much of that. */
const small = 8 * 1_024 * 1_024

/**
 * Holds a file from now on, so that what others write is not seen; one that is not there is not made. It is opened for reading: whoever closes
 * a file last that may be written moves its log into it, and that is for its owner to do.
 *
 * @throws {DamagedFileError}
 */
export function pin(path: string): Pinned {
  mustBeThere(path)
  let database: Database | undefined
  try {
    database = openSqlite(path, { readonly: true })
    database.exec('begin')
    database.prepare('select count(*) from sqlite_master').get()
    return toPinned(database)
  } catch (error) {
    database?.close()
    throw toStorageError(error, path)
  }
}

/** Whether all that a file that nobody has open holds is in the file itself, and nothing in a log that a crash has left. */
export function hasNoLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0
}

/** Copies a file that is not open and has no log, as `copyTo` does. @throws {DamagedFileError} when it is missing. */
export async function copyClosed(from: string, to: string): Promise<void> {
  mustBeThere(from)
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  chmodSync(to, 0o600)
  leaveWal(to)
}

function mustBeThere(path: string): void {
  if (!existsSync(path)) throw new DamagedFileError(path, 'is missing')
}

function toPinned(database: Database): Pinned {
  const bytes =
    (database.pragma('page_count', { simple: true }) as number) *
    (database.pragma('page_size', { simple: true }) as number)
  return {
    async copyTo(path) {
      closeSync(openSync(path, 'wx', 0o600))
      try {
        if (bytes <= small) writeFileSync(path, database.serialize())
        else await database.backup(path)
      } catch (error) {
        throw toStorageError(error, database.name)
      }
      leaveWal(path)
    },
    close: () => database.close(),
  }
}

/** Bytes 18 and 19 say who may write and read a file: 1 whoever knows no log, 2 whoever does (https://www.sqlite.org/fileformat2.html §1.3.3). */
function leaveWal(path: string): void {
  const file = openSync(path, 'r+')
  try {
    writeSync(file, Uint8Array.of(1, 1), 0, 2, 18)
  } finally {
    closeSync(file)
  }
}
