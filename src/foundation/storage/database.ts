/**
 * Opens, migrates and closes databases. Reads take a `Db` and writes take a `Tx`, so that a write outside of
 * a transaction does not compile. Only this folder depends on SQLite.
 */
import { Kysely, sql, type Transaction } from 'kysely'
import type { AgentTables } from './agent-tables.ts'
import type { AuditTables } from './audit-tables.ts'
import { asKysely, createDialect, isSqlite, type DialectOptions } from './dialect.ts'
import { DamagedFileError, toStorageError } from './file-errors.ts'
import { removePageSums } from './files.ts'
import { fillFile, makeImage, writeImage } from './image.ts'
import { type FlushedDb, withLogSync } from './log-sync.ts'
import type { MediatorTables } from './mediator-tables.ts'
import { isUpToDate, migrate, type Migrations } from './migrate.ts'
import { agentMigrations } from './migrations/agent.ts'
import { auditMigrations } from './migrations/audit.ts'
import { mediatorMigrations } from './migrations/mediator.ts'
import { walletMigrations } from './migrations/wallet.ts'
import { findFault, hasTable, openSqlite, releasePages, type Database } from './sqlite.ts'
import type { WalletTables } from './wallet-tables.ts'

export type Db = Kysely<WalletTables>
export type Tx = Transaction<WalletTables>
export type AgentDb = Kysely<AgentTables>
export type AgentTx = Transaction<AgentTables>
export type AuditDb = Kysely<AuditTables>
export type AuditTx = Transaction<AuditTables>
export type MediatorDb = Kysely<MediatorTables>
export type MediatorTx = Transaction<MediatorTables>

/**
 * Opens `agent.db`, and creates it if it is missing. Deleted and overwritten rows are erased from the file.
 *
 * @throws {NewerFileError}
 */
export function openAgentDb(path: string): Promise<AgentDb> {
  const prepare = (database: Database) => database.pragma('secure_delete = on')
  return open<AgentTables>(path, agentMigrations, { prepare, isShared: true })
}

/** Opens an existing `agent.db` for reading, and does not migrate it. */
export function openAgentDbToRead(path: string): AgentDb {
  return new Kysely<AgentTables>({ dialect: createDialect(openSqlite(path, { readonly: true })) })
}

/**
 * Truncates the write-ahead log, so that overwritten rows are erased from it too. Does nothing while another
 * connection reads.
 */
export async function emptyLog(db: AgentDb): Promise<void> {
  if (!isSqlite(db)) return
  // SQLite does not wait for readers of a shared database. It removes the log when the database is closed.
  await sql`pragma wal_checkpoint(truncate)`.execute(db)
}

/** Opens `audit.db`, and creates it if it is missing. @throws {NewerFileError} */
export function openAuditDb(path: string): Promise<AuditDb> {
  return open<AuditTables>(path, auditMigrations, { isShared: true })
}

/** Opens `mediator.db`, and creates it if it is missing. @throws {NewerFileError} */
export function openMediatorDb(path: string): Promise<MediatorDb> {
  return open<MediatorTables>(path, mediatorMigrations, { isShared: true })
}

/** The same for the process that serves it: a commit is on the disk after a flush. @throws {NewerFileError} */
export async function openServedMediatorDb(path: string): Promise<FlushedDb<MediatorTables>> {
  const prepare = (database: Database) => database.pragma('synchronous = normal')
  const db = await open<MediatorTables>(path, mediatorMigrations, { prepare, isShared: true })
  return withLogSync(path, db)
}

/** Opens the database file of a wallet, and creates it if it is missing. @throws {NewerFileError} */
export function openWalletDb(path: string): Promise<Db> {
  return open<WalletTables>(path, walletMigrations)
}

/** The file of an empty wallet, created once: a copy costs a tenth of the migrations. */
let emptyWallet: Buffer | undefined

/**
 * Creates the database file of a wallet with the rows that `fill` writes. The file is on the disk and closed
 * when this resolves.
 *
 * @throws {Problem} `InsufficientStorage`. No part of the file is left then.
 */
export async function makeWalletDb(path: string, fill: (db: Db) => Promise<unknown>): Promise<void> {
  await writeImage(path, await makeImage(fill, await getEmptyWallet()))
}

/** Writes a new file of a wallet, as `fillFile` does. @throws as `fillFile` */
export async function fillWalletFile(path: string, fill: (tx: Db) => Promise<unknown>): Promise<void> {
  await fillFile(path, await getEmptyWallet(), fill)
}

async function getEmptyWallet(): Promise<Buffer> {
  return (emptyWallet ??= await makeImage<WalletTables>((db) => migrate(db, walletMigrations)))
}

/**
 * Opens the database file of an existing wallet. With `isSuspect`, SQLite checks the whole file first. A
 * commit is on the disk after `LogSync.flush`, or when the database is closed.
 *
 * @throws {DamagedFileError} when the file is damaged or is not a wallet, {NewerFileError}. The file is
 * unchanged then.
 */
export async function openExistingWalletDb(path: string, { isSuspect = false } = {}): Promise<Db> {
  const prepare = (database: Database) => {
    const fault = isSuspect ? findFault(database) : undefined
    if (fault !== undefined) throw new DamagedFileError(path, `is damaged: ${fault}`)
    if (!hasTable(database, 'setting')) throw new DamagedFileError(path, 'is not the file of a wallet')
    database.pragma('synchronous = normal')
  }
  const db = await open<WalletTables>(path, walletMigrations, { prepare })
  removePageSums(path)
  return db
}

/**
 * Asserts that a migrated file from elsewhere has exactly the tables and indexes of a wallet, and no triggers
 * or views.
 *
 * @throws {DamagedFileError}
 */
export async function assertWalletTables(db: Db, path: string): Promise<void> {
  const known = await openWalletDb(':memory:')
  try {
    if ((await schemaOf(db)) !== (await schemaOf(known)))
      throw new DamagedFileError(path, 'has other tables than the file of a wallet')
  } finally {
    await known.destroy()
  }
}

/** The definitions of all tables, indexes, triggers and views, except those of SQLite and Kysely. */
async function schemaOf(db: Db): Promise<string> {
  const { rows } = await sql<{ sql: string | null }>`
    select type, name, tbl_name, sql from sqlite_master
    where substr(name, 1, 7) <> 'sqlite_' and not (type = 'table' and name in ('kysely_migration', 'kysely_migration_lock'))
    order by type, name`.execute(db)
  return JSON.stringify(rows.map((row) => ({ ...row, sql: row.sql && normalizeSql(row.sql) })))
}

/** A definition without quotes and optional white space, which SQLite keeps as the migration had written them. */
export function normalizeSql(definition: string): string {
  return definition
    .trim()
    .replaceAll('"', '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([(),]) ?/g, '$1')
}

async function open<Tables>(
  path: string,
  migrations: Migrations,
  { prepare, isShared = false }: DialectOptions & { prepare?: (database: Database) => unknown } = {},
): Promise<Kysely<Tables>> {
  let isComplete = false
  const database = connect(path, (database) => {
    prepare?.(database)
    isComplete = isUpToDate(database, migrations)
  })
  const db = await asKysely<Tables>(database, { isShared })
  try {
    // Kysely's own check takes longer than the rest of this function.
    if (!isComplete) await migrate(db, migrations)
    // Most wallets need few of the pages that were read until now.
    releasePages(database)
    return db
  } catch (error) {
    await db.destroy()
    throw toStorageError(error, path)
  }
}

function connect(path: string, prepare: (database: Database) => void): Database {
  let database: Database | undefined
  try {
    database = openSqlite(path)
    prepare(database)
    return database
  } catch (error) {
    database?.close()
    throw toStorageError(error, path)
  }
}
