/** The tables of a ledger file. They are only ever added to, but for the verdict of an operation, which is written once. */
import { setTimeout } from 'node:timers/promises'
import { type Generated, Kysely, type Selectable, sql, SqliteDialect } from 'kysely'
import { toHex } from '../base/bytes.ts'
import { NewerFileError } from '../storage/newer-file-error.ts'
import { translate } from '../storage/fault.ts'
import { openSqlite, type Database } from '../storage/sqlite.ts'
import type { ReadOperation } from './signed-operation.ts'

/**
 * Bytes and ids are hexadecimal, times ISO 8601 in UTC; `verdict` is null until the operation is judged. `position` counts from 0
 * within the transaction that the operation came with.
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

/** The master keys that create operations name (compressed points, hexadecimal), whatever becomes of the operations. */
type MasterKeyTable = { public_key: string; sequence: number }

export type LedgerDb = Kysely<{ operation: OperationTable; master_key: MasterKeyTable }>
export type OperationRow = Selectable<OperationTable>

/** An open ledger file. */
export type LedgerFile = {
  db: LedgerDb
  /** A number that is another one whenever somebody else has written to the file: what was read from it may have changed. */
  dataVersion: () => unknown
}

/** Of the tables below; the file says it in its head (SQLite's `user_version`). */
const version = 1

/** Opens a ledger file, made when it is not there. @throws when the folder is missing or the file is no SQLite database; {NewerFileError}, {DamagedFileError}. */
export async function openLedgerFile(path: string): Promise<LedgerFile> {
  const { database, found } = open(path)
  if (found > version) {
    database.close()
    throw new NewerFileError(path, `version ${found}`)
  }
  const db: LedgerDb = new Kysely({ dialect: new SqliteDialect({ database }) })
  try {
    // A file that is complete is opened on a full disk too.
    if (found < version) await immediately(db, createTables)
    const dataVersion = database.prepare('pragma data_version').pluck()
    return { db, dataVersion: () => dataVersion.get() }
  } catch (error) {
    await db.destroy()
    throw error
  }
}

export async function hasOperation(db: LedgerDb, operationId: string): Promise<boolean> {
  return (
    (await db
      .selectFrom('operation')
      .select('sequence')
      .where('operation_id', '=', operationId)
      .executeTakeFirst()) !== undefined
  )
}

function open(path: string): { database: Database; found: number } {
  let database: Database | undefined
  try {
    database = openSqlite(path)
    return { database, found: database.pragma('user_version', { simple: true }) as number }
  } catch (error) {
    database?.close()
    throw translate(error, path)
  }
}

/** Adds an operation that is not there and not judged yet; `when` says when it came and comes due. */
export async function addOperation(
  tx: LedgerDb,
  { operationId, suffix, masterKeys, signedOperation }: ReadOperation,
  when: Pick<OperationRow, 'transaction_id' | 'position' | 'submitted_at' | 'confirms_at'>,
): Promise<void> {
  const row = {
    operation_id: operationId,
    suffix,
    signed_operation: toHex(signedOperation),
    verdict: null,
    details: null,
    ...when,
  }
  const added = await tx.insertInto('operation').values(row).returning('sequence').executeTakeFirstOrThrow()
  const keys = masterKeys.map((public_key) => ({ public_key, sequence: added.sequence }))
  if (keys.length > 0) await tx.insertInto('master_key').values(keys).execute()
}

/** Bytes of the file, without its log, which is short. */
export async function readSize(db: LedgerDb): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`.execute(db)
  return rows[0]!.bytes
}

/** The create operations that name a master key, in the ledger's order. */
export function findCreates(db: LedgerDb, publicKey: string): Promise<OperationRow[]> {
  return db
    .selectFrom('master_key')
    .innerJoin('operation', 'operation.sequence', 'master_key.sequence')
    .selectAll('operation')
    .where('public_key', '=', publicKey)
    .orderBy('operation.sequence')
    .execute()
}

/**
 * Does the work in a transaction that holds the write lock from its beginning. Kysely's own begins by reading; when another
 * process writes in between, SQLite cannot turn such a transaction into a writing one.
 */
export async function immediately<T>(db: LedgerDb, work: (tx: LedgerDb) => Promise<T>): Promise<T> {
  return db.connection().execute(async (tx) => {
    await begin(tx)
    try {
      const result = await work(tx)
      await sql`commit`.execute(tx)
      return result
    } catch (error) {
      // A full disk, for one, has ended the transaction already; the first error is the one to tell.
      await sql`rollback`.execute(tx).catch(() => undefined)
      throw error
    }
  })
}

/** How long the write lock is waited for. */
const patienceMs = 10_000

/** Waits for the write lock without SQLite, whose waiting would stop this whole process, and with it whoever in it holds the lock. */
async function begin(tx: LedgerDb): Promise<void> {
  await sql`pragma busy_timeout = 0`.execute(tx)
  try {
    for (const end = Date.now() + patienceMs; ; await setTimeout(1 + Math.random() * 4)) {
      try {
        await sql`begin immediate`.execute(tx)
        return
      } catch (error) {
        if ((error as { code?: string }).code !== 'SQLITE_BUSY' || Date.now() > end) throw error
      }
    }
  } finally {
    await sql`pragma busy_timeout = 5000`.execute(tx)
  }
}

async function createTables(tx: LedgerDb): Promise<void> {
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
  await tx.schema
    .createIndex('operation_by_did')
    .ifNotExists()
    .on('operation')
    .columns(['suffix', 'sequence'])
    .execute()
  await tx.schema
    .createIndex('operation_by_transaction')
    .ifNotExists()
    .on('operation')
    .column('transaction_id')
    .execute()
  await sql.raw(`pragma user_version = ${version}`).execute(tx)
}
