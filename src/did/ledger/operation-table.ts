/** The tables of a ledger file. They are append-only. */
import { type Generated, Kysely, type Selectable, sql } from 'kysely'
import { toHex } from '../../foundation/bytes.ts'
import { createDialect, isSqlite } from '../../foundation/storage/dialect.ts'
import { NewerFileError, toStorageError } from '../../foundation/storage/file-errors.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { openSqlite, type Database } from '../../foundation/storage/sqlite.ts'
import type { ReadOperation } from './ledger.ts'

/**
 * Bytes and ids are hexadecimal, times ISO 8601 in UTC. `position` is the position in the transaction, from
 * 0. `verdict` applies from `confirms_at` on; earlier versions left it null until then.
 */
type OperationTable = {
  sequence: Generated<number>
  operation_id: string
  transaction_id: string
  position: number
  suffix: string
  signed_operation: string
  submitted_at: string
  confirms_at: string
  verdict: 'confirmed' | 'rejected' | null
  details: string | null
}

/** The master keys in create operations (compressed points, hexadecimal). */
type MasterKeyTable = { public_key: string; sequence: number }

/**
 * The operations on storage entries. `hash` is that of the operation without its signature, `suffix` the
 * owner's.
 */
type StorageEventTable = { hash: string; entry_id: string; suffix: string; sequence: number }

export type LedgerDb = Kysely<{
  operation: OperationTable
  master_key: MasterKeyTable
  storage_event: StorageEventTable
}>
export type OperationRow = Selectable<OperationTable>

/** The version of the tables, stored as SQLite's `user_version`. */
export const ledgerVersion = 2

/**
 * Opens a ledger file, or creates it. @throws when the folder is missing or the file is not an SQLite
 * database; {NewerFileError}, {DamagedFileError}.
 */
export async function openLedgerFile(path: string): Promise<LedgerDb> {
  const { database, found } = open(path)
  if (found > ledgerVersion) {
    database.close()
    throw new NewerFileError(path, `version ${found}`)
  }
  const db: LedgerDb = new Kysely({ dialect: createDialect(database, { isShared: true }) })
  try {
    // Nothing is written to a current file, so that it opens on a full disk too.
    if (found < ledgerVersion) await db.transaction().execute(createLedgerTables)
    return db
  } catch (error) {
    await db.destroy()
    throw error
  }
}

export async function hasOperation(db: LedgerDb, operationId: string): Promise<boolean> {
  const operation = db.selectFrom('operation').select('sequence').where('operation_id', '=', operationId)
  return (await operation.executeTakeFirst()) !== undefined
}

function open(path: string): { database: Database; found: number } {
  let database: Database | undefined
  try {
    database = openSqlite(path)
    return { database, found: database.pragma('user_version', { simple: true }) as number }
  } catch (error) {
    database?.close()
    throw toStorageError(error, path)
  }
}

/** Stores a valid operation that is not in the ledger yet. Returns its sequence number. */
export async function addOperation(
  tx: LedgerDb,
  { operationId, suffix, masterKeys, signedOperation }: ReadOperation & { suffix: string },
  columns: Pick<OperationRow, 'transaction_id' | 'position' | 'submitted_at' | 'confirms_at'>,
): Promise<number> {
  const row = {
    operation_id: operationId,
    suffix,
    signed_operation: toHex(signedOperation),
    verdict: 'confirmed' as const,
    details: null,
    ...columns,
  }
  const { sequence } = await tx
    .insertInto('operation')
    .values(row)
    .returning('sequence')
    .executeTakeFirstOrThrow()
  const keys = masterKeys.map((public_key) => ({ public_key, sequence }))
  if (keys.length > 0) await tx.insertInto('master_key').values(keys).execute()
  return sequence
}

/** The operations on a DID after `sequence`, in order. */
export async function listOperations(
  db: LedgerDb,
  suffix: string,
  sequence: number,
): Promise<OperationRow[]> {
  return (await operationsAfter(db, { suffix, sequence })).rows
}

const operationsAfter = prepared(
  (db: LedgerDb, { suffix, sequence }: Pick<OperationRow, 'suffix' | 'sequence'>) =>
    db
      .selectFrom('operation')
      .selectAll()
      .where('suffix', '=', suffix)
      .where('sequence', '>', sequence)
      .orderBy('sequence'),
)

export function findOperations(
  db: LedgerDb,
  column: 'operation_id' | 'transaction_id',
  id: string,
): Promise<OperationRow[]> {
  const operations = db.selectFrom('operation').selectAll().where(column, '=', id.toLowerCase())
  return operations.orderBy('sequence').execute()
}

export function findLastDue(db: LedgerDb, now: Date): Promise<OperationRow | undefined> {
  const due = db.selectFrom('operation').selectAll().where('confirms_at', '<=', now.toISOString())
  return due.orderBy('sequence', 'desc').limit(1).executeTakeFirst()
}

export async function getTransactionId(db: LedgerDb, operationId: string): Promise<string> {
  const operation = db
    .selectFrom('operation')
    .select('transaction_id')
    .where('operation_id', '=', operationId)
  return (await operation.executeTakeFirstOrThrow()).transaction_id
}

/** The size in bytes: of the file without its write-ahead log, or of the tables with their indexes. */
export async function readSize(db: LedgerDb): Promise<number> {
  const { rows } = await (
    isSqlite(db)
      ? sql<{
          bytes: number
        }>`select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`
      : sql<{
          bytes: number
        }>`select pg_total_relation_size('operation') + pg_total_relation_size('master_key')
            + pg_total_relation_size('storage_event') as bytes`
  ).execute(db)
  return rows[0]!.bytes
}

/** The create operations with a master key, in the ledger's order. */
export function findCreates(db: LedgerDb, publicKey: string): Promise<OperationRow[]> {
  return db
    .selectFrom('master_key')
    .innerJoin('operation', 'operation.sequence', 'master_key.sequence')
    .selectAll('operation')
    .where('public_key', '=', publicKey)
    .orderBy('operation.sequence')
    .execute()
}

export async function createLedgerTables(tx: LedgerDb): Promise<void> {
  await tx.schema
    .createTable('operation')
    .ifNotExists()
    .addColumn('sequence', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('operation_id', 'text', (column) => column.notNull().unique())
    .addColumn('transaction_id', 'text', (column) => column.notNull())
    .addColumn('position', 'integer', (column) => column.notNull())
    .addColumn('suffix', 'text', (column) => column.notNull())
    .addColumn('signed_operation', 'text', (column) => column.notNull())
    .addColumn('submitted_at', 'text', (column) => column.notNull())
    .addColumn('confirms_at', 'text', (column) => column.notNull())
    .addColumn('verdict', 'text')
    .addColumn('details', 'text')
    .execute()
  await tx.schema
    .createTable('master_key')
    .ifNotExists()
    .addColumn('public_key', 'text', (column) => column.notNull())
    .addColumn('sequence', 'integer', (column) => column.notNull().references('operation.sequence'))
    .addPrimaryKeyConstraint('master_key_pk', ['public_key', 'sequence'])
    .execute()
  await addIndex(tx, 'operation_by_did', 'operation', ['suffix', 'sequence'])
  await addIndex(tx, 'operation_by_transaction', 'operation', ['transaction_id'])
  await tx.schema
    .createTable('storage_event')
    .ifNotExists()
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('entry_id', 'text', (column) => column.notNull())
    .addColumn('suffix', 'text', (column) => column.notNull())
    .addColumn('sequence', 'integer', (column) => column.notNull().references('operation.sequence'))
    .execute()
  await addIndex(tx, 'storage_event_of', 'storage_event', ['entry_id', 'sequence'])
  await sql.raw(`pragma user_version = ${ledgerVersion}`).execute(tx)
}

async function addIndex(tx: LedgerDb, name: string, table: string, columns: string[]): Promise<void> {
  await tx.schema.createIndex(name).ifNotExists().on(table).columns(columns).execute()
}
