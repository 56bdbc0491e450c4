/**
 * The embedded ledger: one SQLite file that several daemons may open at once (decisions.md §5).
 *
 * The file is a list of signed operations that is only ever added to. An operation waits for its time, is then judged by
 * the rules of the method (wire.md 11.3) after every earlier one on the same DID, and its verdict stays. Nothing polls:
 * whoever asks about a DID judges what has come due. An operation's time is its `confirms_at`, whenever and by whichever
 * process it is judged, so that all come to the same state.
 */
import { type Generated, Kysely, type Selectable, sql, SqliteDialect } from 'kysely'
import { fromHex, toHex } from '../base/bytes.ts'
import { Problem } from '../base/problem.ts'
import { InvalidOperation } from '../did/prism/model.ts'
import { operationId as idOf } from '../did/prism/operations.ts'
import { apply, type DidState, subjectOf } from '../did/prism/state.ts'
import { openSqlite } from '../storage/sqlite.ts'
import type { Ledger, LedgerOperation } from './ledger.ts'

/** Bytes and ids are hexadecimal, times ISO 8601 in UTC; `verdict` is null until the operation is judged. */
type OperationTable = {
  sequence: Generated<number>
  operation_id: string
  suffix: string
  signed_operation: string
  submitted_at: string
  confirms_at: string
  verdict: 'confirmed' | 'rejected' | null
  details: string | null
}
type Db = Kysely<{ operation: OperationTable }>
type Row = Selectable<OperationTable>

/** A DID as far as its operations are judged: up to `sequence`, and those that wait behind it, in order. */
type Judged = { sequence: number; state: DidState | undefined; waiting: Row[] }

/** `confirmAfterSeconds` is the wait between submission and confirmation, 0 (the default) for none; `now` is the clock. */
export type SqliteLedgerOptions = { confirmAfterSeconds?: number; now?: () => Date }

/** Opens a ledger file, made when it is not there. @throws when the folder is missing or the file is no SQLite database. */
export async function openSqliteLedger(path: string, options: SqliteLedgerOptions = {}): Promise<Ledger> {
  const { confirmAfterSeconds = 0, now = () => new Date() } = options
  const db: Db = new Kysely({ dialect: new SqliteDialect({ database: openSqlite(path) }) })
  const known = new Map<string, Omit<Judged, 'waiting'>>()
  const isDue = ({ confirms_at }: Row) => confirms_at <= now().toISOString()
  try {
    await immediately(db, createTable)
  } catch (error) {
    await db.destroy()
    throw error
  }

  function remember(suffix: string, { sequence, state }: Judged): void {
    // Anybody can ask about DIDs that are not there.
    if (sequence === 0) return
    known.delete(suffix)
    known.set(suffix, { sequence, state })
    if (known.size > 10_000) known.delete(known.keys().next().value!)
  }

  /** What is judged of a DID, from memory as far as that goes. */
  async function read(tx: Db, suffix: string): Promise<Judged> {
    const judged: Judged = { ...(known.get(suffix) ?? { sequence: 0, state: undefined }), waiting: [] }
    const query = tx.selectFrom('operation').selectAll().where('suffix', '=', suffix).where('sequence', '>', judged.sequence)
    for (const row of await query.orderBy('sequence').execute()) {
      if (row.verdict === null || judged.waiting.length > 0) judged.waiting.push(row)
      else advance(judged, row, row.verdict === 'confirmed' ? toState(judged.state, row) : judged.state)
    }
    return judged
  }

  /** Judges what is due of a DID; `tx` holds the write lock. */
  async function judge(tx: Db, suffix: string): Promise<Judged> {
    const judged = await read(tx, suffix)
    while (judged.waiting[0] && isDue(judged.waiting[0])) {
      const row = judged.waiting.shift()!
      const { state, details } = attempt(judged.state, row)
      const verdict = details === null ? 'confirmed' : 'rejected'
      await tx.updateTable('operation').set({ verdict, details }).where('sequence', '=', row.sequence).execute()
      advance(judged, row, state)
    }
    return judged
  }

  async function settle(suffix: string): Promise<Judged> {
    const judged = await immediately(db, (tx) => judge(tx, suffix))
    // Not before the commit: a verdict that was rolled back must not be remembered.
    remember(suffix, judged)
    return judged
  }

  async function findOperation(operationId: string): Promise<Row | undefined> {
    return db.selectFrom('operation').selectAll().where('operation_id', '=', operationId.toLowerCase()).executeTakeFirst()
  }

  return {
    async submit(signedOperation) {
      const suffix = readSubject(signedOperation)
      const operationId = idOf(signedOperation)
      const judged = await immediately(db, async (tx) => {
        const submittedAt = now()
        const confirmsAt = new Date(submittedAt.getTime() + confirmAfterSeconds * 1_000).toISOString()
        const { waiting } = await read(tx, suffix)
        const row = {
          operation_id: operationId,
          suffix,
          signed_operation: toHex(signedOperation),
          submitted_at: submittedAt.toISOString(),
          // Another process may wait longer or have a clock ahead: on one DID, later operations are never due first.
          confirms_at: [confirmsAt, ...waiting.map(({ confirms_at }) => confirms_at)].toSorted().at(-1)!,
          verdict: null,
          details: null,
        }
        await tx
          .insertInto('operation')
          .values(row)
          .onConflict((conflict) => conflict.column('operation_id').doNothing())
          .execute()
        return judge(tx, suffix)
      })
      remember(suffix, judged)
      // Every operation is a transaction of its own here, and they share the id.
      return { operationId, transactionId: operationId }
    },

    async getOperation(operationId) {
      let row = await findOperation(operationId)
      if (row?.verdict === null && isDue(row)) {
        await settle(row.suffix)
        row = await findOperation(operationId)
      }
      return row && toLedgerOperation(row)
    },

    async getState(suffix) {
      const judged = await read(db, suffix)
      if (judged.waiting[0] && isDue(judged.waiting[0])) return (await settle(suffix)).state
      remember(suffix, judged)
      return judged.state
    },

    close: () => db.destroy(),
    [Symbol.asyncDispose]: () => db.destroy(),
  }
}

function advance(judged: Judged, row: Row, state: DidState | undefined): void {
  judged.sequence = row.sequence
  judged.state = state
}

function attempt(state: DidState | undefined, row: Row): { state: DidState | undefined; details: string | null } {
  try {
    return { state: toState(state, row), details: null }
  } catch (error) {
    if (error instanceof InvalidOperation) return { state, details: error.message }
    throw error
  }
}

function toState(state: DidState | undefined, row: Row): DidState {
  return apply(state, fromHex(row.signed_operation), new Date(row.confirms_at))
}

function toLedgerOperation(row: Row): LedgerOperation {
  const { operation_id: operationId, verdict, details, submitted_at: submittedAt, confirms_at: confirmsAt } = row
  return { operationId, status: verdict ?? 'pending', ...(details !== null && { details }), submittedAt, confirmsAt }
}

function readSubject(signedOperation: Uint8Array): string {
  try {
    return subjectOf(signedOperation)
  } catch (error) {
    if (error instanceof InvalidOperation) throw new Problem('BadRequest', `the signed operation cannot be taken: ${error.message}`)
    throw error
  }
}

/**
 * Does the work in a transaction that holds the write lock from its beginning. Kysely's own begins by reading; when another
 * process writes in between, SQLite cannot turn such a transaction into a writing one.
 */
async function immediately<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  return db.connection().execute(async (tx) => {
    await sql`begin immediate`.execute(tx)
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

async function createTable(tx: Db): Promise<void> {
  await tx.schema
    .createTable('operation')
    .ifNotExists()
    .addColumn('sequence', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('operation_id', 'text', (column) => column.notNull().unique())
    .addColumn('suffix', 'text', (column) => column.notNull())
    .addColumn('signed_operation', 'text', (column) => column.notNull())
    .addColumn('submitted_at', 'text', (column) => column.notNull())
    .addColumn('confirms_at', 'text', (column) => column.notNull())
    .addColumn('verdict', 'text')
    .addColumn('details', 'text')
    .execute()
  await tx.schema.createIndex('operation_by_did').ifNotExists().on('operation').columns(['suffix', 'sequence']).execute()
}
