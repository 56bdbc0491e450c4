/**
 * Loads better-sqlite3. Release 13 needs Node-API 10 (Node.js 22.14); for an older Node.js, `bin/sqlite.cjs`
 * compiles release 12.
 */
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import type BetterSqlite3 from 'better-sqlite3'
import { reasonOf } from '../reason.ts'
import { StartError } from '../start-error.ts'
import { isDiskFull, toStorageError } from './file-errors.ts'

export type Database = BetterSqlite3.Database

/**
 * The page cache of one database, in kilobytes. The package's default of 16,000 would be 8 GB for 500 open
 * wallets. A larger cache is not faster, since the operating system caches files too.
 */
const cacheSize = 1_000

const hasBinary = Number(process.versions.napi) >= 10
const packageName = hasBinary ? 'better-sqlite3' : '.sqlite-node20/node_modules/better-sqlite3'

/**
 * Opens a SQLite file, and creates it with mode 0600 if it is missing; `:memory:` is a database in memory. A
 * commit is on the disk when it returns (WAL mode, `synchronous=FULL`). A locked file is waited for, five
 * seconds at most. On a disk that is read-only, writes fail.
 *
 * @throws when the folder is missing, the file is not a database, or better-sqlite3 is not installed
 */
export function openSqlite(path: string, { readonly = false } = {}): Database {
  try {
    return connect(path, { readonly })
  } catch (error) {
    if (!readonly && (error as NodeJS.ErrnoException).code === 'EROFS') return openUnwritable(path)
    if (readonly || !isDiskFull(error)) throw error
    // There is no room for the index of the log (-shm). SQLite needs no file for it while one connection has
    // the database exclusively.
    return connect(path, { readonly, isExclusive: true })
  }
}

/** The largest file, in bytes, that is read into memory. */
const maxInMemory = 100_000_000

/**
 * Opens a file that can only be read. SQLite reads a file in WAL mode only beside its log, which it would
 * create: without a log, the file is read into memory.
 */
function openUnwritable(path: string): Database {
  if (existsSync(`${path}-wal`) || statSync(path).size > maxInMemory) return connect(path, { readonly: true })
  const image = readFileSync(path)
  // Not in WAL mode (https://www.sqlite.org/fileformat2.html §1.3.3).
  image.set([1, 1], 18)
  const database = openInMemory(image)
  database.pragma('query_only = on')
  return database
}

function connect(
  path: string,
  { readonly, isExclusive = false }: { readonly: boolean; isExclusive?: boolean },
): Database {
  const Database = load()
  // SQLite gives the -wal and -shm files the mode of the database.
  if (path !== ':memory:' && !readonly) closeSync(openSync(path, 'a', 0o600))
  const database = new Database(path, { readonly, fileMustExist: readonly, timeout: 5_000 })
  try {
    if (isExclusive) database.pragma('locking_mode = exclusive')
    database.pragma('busy_timeout = 5000')
    database.pragma(`cache_size = -${cacheSize}`)
    // Keep temporary storage in memory: savepoint data would otherwise spill, unencrypted, to a temporary
    // file.
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
 * Opens a file that is only used for its lock. It needs no room on the disk: with exclusive locking, SQLite
 * writes no index of a log.
 */
export function openLockFile(path: string): Database {
  const Database = load()
  closeSync(openSync(path, 'a', 0o600))
  const database = new Database(path, { timeout: 0 })
  database.pragma('locking_mode = exclusive')
  // A file of an earlier release is in WAL mode, which needs no room either until the first write.
  if (statSync(path).size === 0) database.pragma('journal_mode = memory')
  return database
}

/**
 * Opens a file that no other connection reads before it is complete. There is no log, and no flush to the
 * disk.
 */
export function openToFill(path: string): Database {
  const Database = load()
  const database = new Database(path, { fileMustExist: true })
  database.pragma('journal_mode = memory')
  database.pragma('synchronous = off')
  database.pragma('foreign_keys = on')
  database.pragma(`cache_size = -${cacheSize}`)
  return database
}

/** Opens a database in memory, empty or with the bytes of a file that has no log. */
export function openInMemory(image?: Buffer): Database {
  const Database = load()
  return new Database(image ?? ':memory:')
}

let loaded: typeof BetterSqlite3 | undefined

/** @throws {StartError} when the package or its binary is not installed */
function load(): typeof BetterSqlite3 {
  if (loaded) return loaded
  try {
    const Database = createRequire(import.meta.url)(packageName) as typeof BetterSqlite3
    // The package loads its binary with the first database.
    new Database(':memory:').close()
    return (loaded = Database)
  } catch (error) {
    throw new StartError(describe(error), 1, { cause: error })
  }
}

/**
 * Why SQLite cannot be loaded, and the way out, in one sentence. Of Node's own message the first line, since
 * the others are a list of files.
 */
function describe(error: unknown): string {
  const { version, platform, arch } = process
  const again = 'install identity-agent again (npm i -g identity-agent, or npm ci in a clone)'
  if (!hasBinary)
    return `SQLite is not compiled for Node.js ${version}: ${again} without --ignore-scripts, with Python 3, make and a C++ compiler, or use Node.js 22.14 or later.`
  const isMissing = (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND'
  const reason = isMissing ? 'the package better-sqlite3 is not there' : reasonOf(error).split('\n')[0]
  return `SQLite cannot be loaded by Node.js ${version} on ${platform}-${arch} (${reason}): ${again}.`
}

/**
 * Frees the page cache, and has SQLite allocate pages one by one from now on. With a large cache, it
 * allocates twenty pages with the first one, which is more than most wallets need; so the first page is read
 * while the cache holds two.
 */
export function releasePages(database: Database): void {
  database.pragma('cache_size = 2')
  database.pragma('shrink_memory')
  database.pragma('schema_version')
  database.pragma(`cache_size = -${cacheSize}`)
}

export function hasTable(database: Database, name: string): boolean {
  const tables = database.prepare("select 1 from sqlite_master where type = 'table' and name = ?")
  return tables.get(name) !== undefined
}

/**
 * Runs `integrity_check`, which reads the whole file. Returns SQLite's first message, or undefined when the
 * database is sound.
 */
export function findFault(database: Database): string | undefined {
  const found = String(database.pragma('integrity_check(1)', { simple: true }))
  return found === 'ok' ? undefined : found
}

/**
 * Switches to WAL mode. When two processes do so at once, SQLite fails at once and ignores the busy timeout,
 * so this function retries.
 */
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
 * Locks a data folder for one daemon. The operating system releases the lock when the process ends, however
 * it ends.
 *
 * @returns the function that releases the lock, or undefined when another process holds it
 * @throws {DamagedFileError} when the lock file is not a database
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
