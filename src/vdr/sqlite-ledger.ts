/**
 * The embedded ledger: one SQLite file that several daemons may open at once (decisions.md §5).
 *
 * The file is a list of signed operations that is only ever added to. An operation waits for its time, is then judged by
 * the rules of the method (wire.md 11.3) after every earlier one on the same DID, and its verdict stays. Nothing polls:
 * whoever asks about a DID judges what has come due. An operation's time is its `confirms_at`, whenever and by whichever
 * process it is judged, so that all come to the same state.
 *
 * Operations on one DID are judged in the order of their arrival, so the state that an operation will meet is known when it comes. One that
 * breaks a rule in that state, the signature of a master key first of all, is refused and not stored. Files of earlier versions have such
 * operations; they stay, as rejected.
 */
import { createHash } from 'node:crypto'
import { fromHex, toHex } from '../base/bytes.ts'
import { Problem } from '../base/problem.ts'
import { compressed } from '../crypto/secp256k1.ts'
import { InvalidOperation } from '../did/prism/model.ts'
import { apply, type DidState } from '../did/prism/state.ts'
import type { Ledger, LedgerOperation } from './ledger.ts'
import {
  addOperation,
  findCreates,
  hasOperation,
  immediately,
  type LedgerDb,
  openLedgerFile,
  readSize,
  type OperationRow as Row,
} from './operation-table.ts'
import { createStateMemory } from './state-memory.ts'
import { type ReadOperation, readOperation } from './signed-operation.ts'

/** Operations on one DID that may wait to be confirmed. */
const maxWaiting = 20

/** A DID as far as its operations are judged: up to `sequence`, and those that wait behind it, in order. */
type Judged = { sequence: number; state: DidState | undefined; waiting: Row[] }

/** `confirmAfterSeconds` is the wait between submission and confirmation, 0 (the default) for none; `now` is the clock. */
export type SqliteLedgerOptions = { confirmAfterSeconds?: number; now?: () => Date }

/** An operation with its place: `sequence` in the whole ledger, from 1, and `position` in its transaction, from 0. */
export type LedgerEntry = LedgerOperation & {
  transactionId: string
  sequence: number
  position: number
  suffix: string
  signedOperation: Uint8Array
}

/** What only a ledger that is here can do: all that is needed to serve it to others. */
export type EmbeddedLedger = Ledger & {
  /** `submit` for several operations, which get one transaction and stand in it side by side: all of them or none. */
  submitAll(
    signedOperations: readonly Uint8Array[],
  ): Promise<{ operationIds: string[]; transactionId: string }>
  findEntry(operationId: string): Promise<LedgerEntry | undefined>
  /** The operations that came with a transaction, in order; an operation that had come before is not among them. */
  listTransaction(transactionId: string): Promise<LedgerEntry[]>
  /** The last operation that is judged; nothing in an empty ledger. */
  findLast(): Promise<LedgerEntry | undefined>
  /** Bytes of the ledger's file. */
  readSize(): Promise<number>
}

/** Opens a ledger file, made when it is not there. @throws when the folder is missing or the file is no SQLite database. */
export async function openSqliteLedger(
  path: string,
  options: SqliteLedgerOptions = {},
): Promise<EmbeddedLedger> {
  const { confirmAfterSeconds = 0, now = () => new Date() } = options
  const { db, dataVersion } = await openLedgerFile(path)
  const known = new Map<string, Omit<Judged, 'waiting'>>()
  const settledStates = createStateMemory(dataVersion)
  const isDue = ({ confirms_at }: Row) => confirms_at <= now().toISOString()

  function remember(suffix: string, { sequence, state }: Judged): void {
    // Anybody can ask about DIDs that are not there.
    if (sequence === 0) return
    known.delete(suffix)
    known.set(suffix, { sequence, state })
    if (known.size > 10_000) known.delete(known.keys().next().value!)
  }

  /** What is judged of a DID, from memory as far as that goes. */
  async function read(tx: LedgerDb, suffix: string): Promise<Judged> {
    const judged: Judged = { ...(known.get(suffix) ?? { sequence: 0, state: undefined }), waiting: [] }
    const query = tx
      .selectFrom('operation')
      .selectAll()
      .where('suffix', '=', suffix)
      .where('sequence', '>', judged.sequence)
    for (const row of await query.orderBy('sequence').execute()) {
      if (row.verdict === null || judged.waiting.length > 0) judged.waiting.push(row)
      else advance(judged, row, row.verdict === 'confirmed' ? toState(judged.state, row) : judged.state)
    }
    return judged
  }

  /** Judges what is due of a DID; `tx` holds the write lock. */
  async function judge(tx: LedgerDb, suffix: string): Promise<Judged> {
    const judged = await read(tx, suffix)
    while (judged.waiting[0] && isDue(judged.waiting[0])) {
      const row = judged.waiting.shift()!
      const { state, details } = attempt(judged.state, row)
      const verdict = details === null ? 'confirmed' : 'rejected'
      await tx
        .updateTable('operation')
        .set({ verdict, details })
        .where('sequence', '=', row.sequence)
        .execute()
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

  /** Rows as they are once everything that has come due on their DIDs is judged. */
  async function settled(find: () => Promise<Row[]>): Promise<Row[]> {
    const rows = await find()
    const due = new Set(rows.filter((row) => row.verdict === null && isDue(row)).map(({ suffix }) => suffix))
    for (const suffix of due) await settle(suffix)
    return due.size > 0 ? find() : rows
  }

  const find = (column: 'operation_id' | 'transaction_id', id: string) =>
    settled(() =>
      db
        .selectFrom('operation')
        .selectAll()
        .where(column, '=', id.toLowerCase())
        .orderBy('sequence')
        .execute(),
    )

  /** Adds an operation; false when it is there already. @throws {Problem} `BadRequest`, `TooManyRequests` */
  async function add(
    tx: LedgerDb,
    operation: ReadOperation,
    transactionId: string,
    position: number,
  ): Promise<boolean> {
    if (await hasOperation(tx, operation.operationId)) return false
    const submittedAt = now()
    const confirmsAt = new Date(submittedAt.getTime() + confirmAfterSeconds * 1_000).toISOString()
    const { state, waiting } = await judge(tx, operation.suffix)
    // Each of them is verified again whenever another comes.
    if (waiting.length >= maxWaiting) throw tooManyWaiting(waiting[0]!, submittedAt)
    const met = waiting.reduce((before, row) => attempt(before, row).state, state)
    const { details } = attempt(met, {
      signed_operation: toHex(operation.signedOperation),
      confirms_at: confirmsAt,
    })
    if (details !== null) throw new Problem('BadRequest', `the signed operation cannot be taken: ${details}`)
    await addOperation(tx, operation, {
      transaction_id: transactionId,
      position,
      submitted_at: submittedAt.toISOString(),
      // Another process may wait longer or have a clock ahead: on one DID, later operations are never due first.
      confirms_at: [confirmsAt, ...waiting.map(({ confirms_at }) => confirms_at)].toSorted().at(-1)!,
    })
    return true
  }

  const ledger: Omit<EmbeddedLedger, typeof Symbol.asyncDispose> = {
    location: path,

    async submit(signedOperation) {
      const { operationIds, transactionId } = await ledger.submitAll([signedOperation])
      return { operationId: operationIds[0]!, transactionId }
    },

    async submitAll(signedOperations) {
      const operations = signedOperations.map(readOperation)
      const operationIds = operations.map(({ operationId }) => operationId)
      const ours = transactionIdOf(operationIds)
      const suffixes = new Set(operations.map(({ suffix }) => suffix))
      settledStates.forget()
      const done = await immediately(db, async (tx) => {
        let added = 0
        for (const operation of operations) if (await add(tx, operation, ours, added)) added++
        const judged: [string, Judged][] = []
        for (const suffix of suffixes) judged.push([suffix, await judge(tx, suffix)])
        const query = tx
          .selectFrom('operation')
          .select('transaction_id')
          .where('operation_id', '=', operationIds.at(-1)!)
        return {
          judged,
          transactionId: added > 0 ? ours : (await query.executeTakeFirstOrThrow()).transaction_id,
        }
      })
      settledStates.forget()
      for (const [suffix, judged] of done.judged) remember(suffix, judged)
      return { operationIds, transactionId: done.transactionId }
    },

    async getOperation(operationId) {
      const [row] = await find('operation_id', operationId)
      return row && toLedgerOperation(row)
    },

    async getState(suffix) {
      const memory = settledStates.recall(suffix)
      if ('state' in memory) return memory.state
      const judged = await read(db, suffix)
      if (judged.waiting[0] && isDue(judged.waiting[0])) return (await settle(suffix)).state
      remember(suffix, judged)
      // What waits will change the state when it is due, and nobody will write to the file for that.
      if (judged.waiting.length === 0) memory.keep(judged.state)
      return judged.state
    },

    async findByMasterKey(publicKey) {
      const rows = await settled(() => findCreates(db, toHex(compressed(publicKey))))
      return rows.filter(({ verdict }) => verdict === 'confirmed').map(({ suffix }) => suffix)
    },

    async findEntry(operationId) {
      const [row] = await find('operation_id', operationId)
      return row && toEntry(row)
    },

    listTransaction: async (transactionId) => (await find('transaction_id', transactionId)).map(toEntry),

    async findLast() {
      const judged = db.selectFrom('operation').selectAll().where('verdict', 'is not', null)
      const row = await judged.orderBy('sequence', 'desc').limit(1).executeTakeFirst()
      return row && toEntry(row)
    },

    readSize: () => readSize(db),
    close: () => db.destroy(),
  }
  return { ...ledger, [Symbol.asyncDispose]: ledger.close }
}

function tooManyWaiting({ confirms_at }: Row, now: Date): Problem {
  const retryAfter = Math.max(1, Math.ceil((Date.parse(confirms_at) - now.getTime()) / 1_000))
  const detail = `the DID has ${maxWaiting} operations that wait to be confirmed; try again in ${retryAfter} seconds`
  return new Problem('TooManyRequests', detail, { retryAfter })
}

/** An operation that comes alone shares its id with its transaction. */
function transactionIdOf(operationIds: readonly string[]): string {
  return operationIds.length === 1
    ? operationIds[0]!
    : createHash('sha256').update(operationIds.join()).digest('hex')
}

function advance(judged: Judged, row: Row, state: DidState | undefined): void {
  judged.sequence = row.sequence
  judged.state = state
}

type Attempted = Pick<Row, 'signed_operation' | 'confirms_at'>

function attempt(
  state: DidState | undefined,
  row: Attempted,
): { state: DidState | undefined; details: string | null } {
  try {
    return { state: toState(state, row), details: null }
  } catch (error) {
    if (error instanceof InvalidOperation) return { state, details: error.message }
    throw error
  }
}

function toState(state: DidState | undefined, row: Attempted): DidState {
  return apply(state, fromHex(row.signed_operation), new Date(row.confirms_at))
}

function toLedgerOperation(row: Row): LedgerOperation {
  const {
    operation_id: operationId,
    verdict,
    details,
    submitted_at: submittedAt,
    confirms_at: confirmsAt,
  } = row
  return {
    operationId,
    status: verdict ?? 'pending',
    ...(details !== null && { details }),
    submittedAt,
    confirmsAt,
  }
}

function toEntry(row: Row): LedgerEntry {
  const { transaction_id: transactionId, sequence, position, suffix, signed_operation } = row
  return {
    ...toLedgerOperation(row),
    transactionId,
    sequence,
    position,
    suffix,
    signedOperation: fromHex(signed_operation),
  }
}
