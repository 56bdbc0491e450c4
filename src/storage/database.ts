/**
 * Databases: opened, brought up to date, closed.
 *
 * Reads take a `Db`; writes take a `Tx`, so that a function that changes a wallet cannot be called outside a
 * transaction. Nothing but this folder knows which database it is.
 */
import { Kysely, sql, type Transaction } from 'kysely'
import type { AgentTables } from './agent-tables.ts'
import type { AuditTables } from './audit-tables.ts'
import type { MediatorTables } from './mediator-tables.ts'
import { DamagedFileError, toStorageError } from './file-errors.ts'
import { asKysely, createDialect } from './dialect.ts'
import * as agent001 from './migrations/agent-001-init.ts'
import * as audit001 from './migrations/audit-001-init.ts'
import * as mediator001 from './migrations/mediator-001-init.ts'
import * as wallet001 from './migrations/wallet-001-init.ts'
import * as wallet002 from './migrations/wallet-002-job.ts'
import { removePageSums } from './files.ts'
import { makeImage, writeImage } from './image.ts'
import { isUpToDate, migrate, type Migrations } from './migrate.ts'
import { findFault, forgetPages, openSqlite, type Database } from './sqlite.ts'
import type { WalletTables } from './wallet-tables.ts'

export type Db = Kysely<WalletTables>
export type Tx = Transaction<WalletTables>
export type AgentDb = Kysely<AgentTables>
export type AgentTx = Transaction<AgentTables>
export type AuditDb = Kysely<AuditTables>
export type AuditTx = Transaction<AuditTables>
export type MediatorDb = Kysely<MediatorTables>
export type MediatorTx = Transaction<MediatorTables>

/** In order, and never changed after a release. */
export const agentMigrations: Migrations = { '001-init': agent001 }
export const auditMigrations: Migrations = { '001-init': audit001 }
export const mediatorMigrations: Migrations = { '001-init': mediator001 }
export const walletMigrations: Migrations = { '001-init': wallet001, '002-job': wallet002 }

/** Opens the agent's database file, made if absent. What is overwritten in it is gone from the file too. @throws {NewerFileError} */
export function openAgentDb(path: string): Promise<AgentDb> {
  return open<AgentTables>(path, agentMigrations, (database) => database.pragma('secure_delete = on'))
}

/** Opens the agent's database file, which must be there, for reading: it is not changed, not even brought up to date. */
export function openAgentDbToRead(path: string): AgentDb {
  return new Kysely<AgentTables>({ dialect: createDialect(openSqlite(path, { readonly: true })) })
}

/** Empties the log that SQLite writes ahead, so that what was overwritten is no longer there either, unless somebody reads the file just now. */
export async function emptyLog(db: AgentDb): Promise<void> {
  await db.connection().execute(async (connection) => {
    // Whoever reads is not waited for: everything else would wait with us. When the file is closed, the log goes anyway.
    await sql`pragma busy_timeout = 0`.execute(connection)
    await sql`pragma wal_checkpoint(truncate)`.execute(connection)
    await sql`pragma busy_timeout = 5000`.execute(connection)
  })
}

/** Opens the audit log's database file, made if absent. @throws {NewerFileError} */
export function openAuditDb(path: string): Promise<AuditDb> {
  return open<AuditTables>(path, auditMigrations)
}

/** Opens the mediator's database file, made if absent. @throws {NewerFileError} */
export function openMediatorDb(path: string): Promise<MediatorDb> {
  return open<MediatorTables>(path, mediatorMigrations)
}

/** Opens a wallet's database file, made if absent. @throws {NewerFileError} */
export function openWalletDb(path: string): Promise<Db> {
  return open<WalletTables>(path, walletMigrations)
}

/** The file of a wallet that holds nothing, made once: with its tables, a file costs ten times what a copy does. */
let emptyWallet: Buffer | undefined

/**
 * Creates a wallet's database file with the rows that `fill` writes. The file is on the disk and closed when this returns.
 *
 * @throws {Problem} `InsufficientStorage`. No part of the file is left then.
 */
export async function makeWalletDb(path: string, fill: (db: Db) => Promise<unknown>): Promise<void> {
  emptyWallet ??= await makeImage<WalletTables>((db) => migrate(db, walletMigrations))
  await writeImage(path, await makeImage(fill, emptyWallet))
}

/**
 * Opens the database file of an existing wallet. With `isInDoubt`, SQLite checks the whole file first. A commit is on the disk after
 * `LogSync.flush`, or when the database is closed.
 *
 * @throws {DamagedFileError} when the file is damaged or is not a wallet, {NewerFileError}. The file is unchanged then.
 */
export async function openExistingWalletDb(path: string, { isInDoubt = false } = {}): Promise<Db> {
  const db = await open<WalletTables>(path, walletMigrations, (database) => {
    if (isInDoubt) mustBeSoundWallet(database)
    else mustBeWallet(database)
    database.pragma('synchronous = normal')
  })
  removePageSums(path)
  return db
}

function mustBeSoundWallet(database: Database): void {
  const fault = findFault(database)
  if (fault !== undefined) throw new DamagedFileError(database.name, `is damaged: ${fault}`)
  mustBeWallet(database)
}

function mustBeWallet(database: Database): void {
  const hasSettings =
    database.prepare("select 1 from sqlite_master where type = 'table' and name = 'setting'").get() !==
    undefined
  if (!hasSettings) throw new DamagedFileError(database.name, 'is not the file of a wallet')
}

async function open<Tables>(
  path: string,
  migrations: Migrations,
  examine: (database: Database) => unknown = () => undefined,
): Promise<Kysely<Tables>> {
  let isComplete = false
  const database = connect(path, (database) => {
    examine(database)
    isComplete = isUpToDate(database, migrations)
  })
  const db = await asKysely<Tables>(database)
  try {
    // Kysely's own check takes longer than everything else here.
    if (!isComplete) await migrate(db, migrations)
    // Most wallets need no more pages than those that were read until now.
    forgetPages(database)
    return db
  } catch (error) {
    await db.destroy()
    throw toStorageError(error, path)
  }
}

function connect(path: string, examine: (database: Database) => unknown): Database {
  let database: Database | undefined
  try {
    database = openSqlite(path)
    examine(database)
    return database
  } catch (error) {
    database?.close()
    throw toStorageError(error, path)
  }
}
