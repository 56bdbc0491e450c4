/**
 * The one place that loads better-sqlite3. Its release 13 needs Node-API 10 (Node 22.14 and later); before that release 12
 * serves, installed under a second name (decisions.md §9).
 */
import { closeSync, openSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import type BetterSqlite3 from 'better-sqlite3'
import { reasonOf } from '../base/reason.ts'
import { StartError } from '../base/start-error.ts'
import { isDiskFull, toStorageError } from './file-errors.ts'

export type Database = BetterSqlite3.Database

/**
 * Kilobytes of its file that an open database may have in memory. The package's own limit is 16,000, which for 500 open wallets would be
 * 8 GB; more than this makes nothing faster, since the system keeps files in memory too.
 */
const cacheSize = 1_000

const packageName = Number(process.versions.napi) >= 10 ? 'better-sqlite3' : 'better-sqlite3-node20'

/**
 * Opens a SQLite file, made with mode 0600 when it is not there; `:memory:` is a database in memory. Every commit is on the disk when it
 * returns (WAL with `synchronous=FULL`, which SQLite does not remember between opens), and a locked file is waited for, five seconds at most.
 *
 * @throws when the folder is missing, the file is no database, or neither release of better-sqlite3 is installed.
 */
export function openSqlite(path: string, { readonly = false } = {}): Database {
  try {
    return connect(path, { readonly })
  } catch (error) {
    if (readonly || !isDiskFull(error)) throw error
    // The index of the log has no room. SQLite does without a file for it while it is the only one that has the database open.
    return connect(path, { readonly, isAlone: true })
  }
}

function connect(
  path: string,
  { readonly, isAlone = false }: { readonly: boolean; isAlone?: boolean },
): Database {
  const Database = load()
  // SQLite gives the -wal and -shm files the mode of the database.
  if (path !== ':memory:' && !readonly) closeSync(openSync(path, 'a', 0o600))
  const database = new Database(path, { readonly, fileMustExist: readonly, timeout: 5_000 })
  try {
    if (isAlone) database.pragma('locking_mode = exclusive')
    database.pragma('busy_timeout = 5000')
    database.pragma(`cache_size = -${cacheSize}`)
    // What a savepoint may take back would be written, unsealed, to a file in the system's temporary folder.
    database.pragma('temp_store = memory')
    if (!readonly) switchToWal(database)
    database.pragma('synchronous = FULL')
    database.pragma('foreign_keys = ON')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Opens a file that is locked and neither read nor written. It takes no room, so that it opens on a full disk too: with exclusive locking
 * SQLite keeps no index of a log beside the file.
 */
export function openLockFile(path: string): Database {
  const Database = load()
  closeSync(openSync(path, 'a', 0o600))
  const database = new Database(path, { timeout: 0 })
  database.pragma('locking_mode = exclusive')
  // A file of an earlier version has a log instead, which takes no room until something is written.
  if (statSync(path).size === 0) database.pragma('journal_mode = memory')
  return database
}

/** Opens a database in memory: an empty one, or one with the bytes of a file that has no log. It costs a fiftieth of making a file. */
export function openInMemory(image?: Buffer): Database {
  const Database = load()
  return new Database(image ?? ':memory:')
}

/** @throws {StartError} when the package is not installed. */
function load(): typeof BetterSqlite3 {
  try {
    return createRequire(import.meta.url)(packageName) as typeof BetterSqlite3
  } catch (error) {
    const [reason] = reasonOf(error).split('\n')
    throw new StartError(
      `SQLite cannot be loaded: ${reason}. Install the package ${packageName} for Node.js ${process.version}.`,
      1,
      {
        cause: error,
      },
    )
  }
}

/**
 * Has a database forget the pages of its file that it has in memory, and take room for one at a time from now on. Where it may have many, SQLite takes
 * room for twenty with the first one, which is more than most wallets use; so that one comes while it may have two.
 */
export function releasePages(database: Database): void {
  database.pragma('cache_size = 2')
  database.pragma('shrink_memory')
  database.pragma('schema_version')
  database.pragma(`cache_size = -${cacheSize}`)
}

/** What SQLite finds wrong with the structure of a database and its indexes, in its words; nothing when it is sound. Reads the whole file. */
export function findFault(database: Database): string | undefined {
  const found = String(database.pragma('integrity_check(1)', { simple: true }))
  return found === 'ok' ? undefined : found
}

/** SQLite does not wait when two processes switch a new file at once (the busy timeout is not asked), so that is done here. */
function switchToWal(database: Database): void {
  for (const end = Date.now() + 5_000; ;) {
    try {
      database.pragma('journal_mode = WAL')
      return
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY' || Date.now() > end) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

/**
 * Takes the lock at a path until the returned function is called or the process ends; `undefined` when another process holds it.
 *
 * @throws {DamagedFileError} when the file holds something else
 */
export function takeLock(path: string): (() => void) | undefined {
  let database: Database | undefined
  try {
    const db = (database = openLockFile(path))
    db.exec('BEGIN EXCLUSIVE')
    return () => db.close()
  } catch (error) {
    database?.close()
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return undefined
    throw toStorageError(error, path)
  }
}
