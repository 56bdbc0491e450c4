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
import * as agent001 from './migrations/agent-001-init.ts'
import * as agent002 from './migrations/agent-002-wallet-number.ts'
import * as agent003 from './migrations/agent-003-openid4vci.ts'
import * as agent004 from './migrations/agent-004-attestations.ts'
import * as agent005 from './migrations/agent-005-issuer-certificates.ts'
import * as agent006 from './migrations/agent-006-vdr-entry.ts'
import * as agent007 from './migrations/agent-007-wallet-permission.ts'
import * as agent008 from './migrations/agent-008-display.ts'
import * as agent009 from './migrations/agent-009-document.ts'
import * as agent010 from './migrations/agent-010-branding.ts'
import * as agent011 from './migrations/agent-011-log-in.ts'
import * as agent013 from './migrations/agent-013-access.ts'
import * as agent012 from './migrations/agent-012-claims-source.ts'
import * as agent017 from './migrations/agent-017-bearer-deferral.ts'
import * as audit001 from './migrations/audit-001-init.ts'
import * as audit002 from './migrations/audit-002-process.ts'
import * as audit003 from './migrations/audit-003-login.ts'
import * as mediator001 from './migrations/mediator-001-init.ts'
import * as wallet001 from './migrations/wallet-001-init.ts'
import * as wallet002 from './migrations/wallet-002-job.ts'
import * as wallet003 from './migrations/wallet-003-short-id.ts'
import * as wallet004 from './migrations/wallet-004-openid4vci.ts'
import * as wallet005 from './migrations/wallet-005-issuer-certificate.ts'
import * as wallet006 from './migrations/wallet-006-openid4vp.ts'
import * as wallet007 from './migrations/wallet-007-trust-anchor.ts'
import * as wallet008 from './migrations/wallet-008-ledger-list.ts'
import * as wallet009 from './migrations/wallet-009-session-openid4vp.ts'
import * as wallet010 from './migrations/wallet-010-webhook-batch.ts'
import * as wallet011 from './migrations/wallet-011-did-label.ts'
import * as wallet012 from './migrations/wallet-012-mdoc-certificate.ts'
import * as wallet013 from './migrations/wallet-013-webhook-types.ts'
import * as wallet014 from './migrations/wallet-014-issuance-grant.ts'
import * as wallet015 from './migrations/wallet-015-refresh-token.ts'
import * as wallet016 from './migrations/wallet-016-delivery.ts'
import * as wallet017 from './migrations/wallet-017-renewal-grant.ts'
import * as wallet019 from './migrations/wallet-019-copies.ts'
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

/** Migrations by name, in order. A released migration never changes. */
export const agentMigrations: Migrations = {
  '001-init': agent001,
  '002-wallet-number': agent002,
  '003-openid4vci': agent003,
  '004-attestations': agent004,
  '005-issuer-certificates': agent005,
  '006-vdr-entry': agent006,
  '007-wallet-permission': agent007,
  '008-display': agent008,
  '009-document': agent009,
  '010-branding': agent010,
  '011-log-in': agent011,
  '012-claims-source': agent012,
  '013-access': agent013,
  '017-bearer-deferral': agent017,
}
export const auditMigrations: Migrations = {
  '001-init': audit001,
  '002-process': audit002,
  '003-login': audit003,
}
export const mediatorMigrations: Migrations = { '001-init': mediator001 }
export const walletMigrations: Migrations = {
  '001-init': wallet001,
  '002-job': wallet002,
  '003-short-id': wallet003,
  '004-openid4vci': wallet004,
  '005-issuer-certificate': wallet005,
  '006-openid4vp': wallet006,
  '007-trust-anchor': wallet007,
  '008-ledger-list': wallet008,
  '009-session-openid4vp': wallet009,
  '010-webhook-batch': wallet010,
  '011-did-label': wallet011,
  '012-mdoc-certificate': wallet012,
  '013-webhook-types': wallet013,
  '014-issuance-grant': wallet014,
  '015-refresh-token': wallet015,
  '016-delivery': wallet016,
  '017-renewal-grant': wallet017,
  '019-copies': wallet019,
}

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
