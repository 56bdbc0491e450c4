/**
 * The embedded ledger: one SQLite file that several daemons may open at once, or tables in PostgreSQL.
 *
 * It is an append-only list of signed operations. An operation is checked against the rules of the
 * did:prism method when it is submitted, in the state that the earlier operations on its DID result in.
 * Invalid ones are refused. An accepted operation is confirmed at its `confirms_at`, and confirmations on one
 * DID keep the order of submission, so that all processes compute the same state.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { fromHex, toHex } from '../../foundation/bytes.ts'
import { compressed } from '../../foundation/crypto/secp256k1.ts'
import { findEntry, getOwner } from './entry-table.ts'
import { append, type Confirmed, getVerdict, type History, isConfirmed, readHistory } from './history.ts'
import { type Ledger, type LedgerOperation, readOperation } from './ledger.ts'
import {
  findCreates,
  findLastDue,
  findOperations,
  getTransactionId,
  hasOperation,
  type LedgerDb,
  openLedgerFile,
  type OperationRow,
  readSize,
} from './operation-table.ts'

const maxStates = 10_000

/** `confirmAfterSeconds` is the time between submission and confirmation (default 0), `now` the clock. */
export type SqliteLedgerOptions = { confirmAfterSeconds?: number; now?: () => Date }

/** `sequence` is the position in the ledger, from 1; `position` that in the transaction, from 0. */
export type LedgerEntry = Omit<LedgerOperation, 'submittedAt' | 'confirmsAt'> & {
  submittedAt: string
  confirmsAt: string
  transactionId: string
  sequence: number
  position: number
  suffix: string
  signedOperation: Uint8Array
}

/** The functions that serve a ledger to other agents. */
export type EmbeddedLedger = Ledger & {
  /** Submits several operations as one transaction: all or none. */
  submitAll(
    signedOperations: readonly Uint8Array[],
  ): Promise<{ operationIds: string[]; transactionId: string }>
  findEntry(operationId: string): Promise<LedgerEntry | undefined>
  /** The operations of a transaction in order, without those that were already in the ledger. */
  listTransaction(transactionId: string): Promise<LedgerEntry[]>
  findLast(): Promise<LedgerEntry | undefined>
  readSize(): Promise<number>
}

/** An open file. `states` caches the confirmed states of published DIDs. */
type OpenLedger = Required<SqliteLedgerOptions> & { db: LedgerDb; states: LRUCache<string, Confirmed> }

/** Opens or creates a ledger file. @throws if the folder is missing or the file is not an SQLite database */
export async function openSqliteLedger(path: string, options?: SqliteLedgerOptions): Promise<EmbeddedLedger> {
  return createEmbeddedLedger(await openLedgerFile(path), path, options)
}

/** The ledger in a database, which it closes. `location` names it in messages. */
export function createEmbeddedLedger(
  db: LedgerDb,
  location: string,
  { confirmAfterSeconds = 0, now = () => new Date() }: SqliteLedgerOptions = {},
): EmbeddedLedger {
  const open: OpenLedger = { db, states: new LRUCache({ max: maxStates }), confirmAfterSeconds, now }
  const toEntries = (rows: OperationRow[]) => Promise.all(rows.map((row) => toEntry(open, row)))
  const readState = async (suffix: string) => {
    const history = await readHistory(db, suffix, open.states.get(suffix), now())
    remember(open, suffix, history)
    return history.confirmed.state
  }
  const close = () => db.destroy()

  return {
    location,
    async submit(signedOperation) {
      const { operationIds, transactionId } = await submitAll(open, [signedOperation])
      return { operationId: operationIds[0]!, transactionId }
    },
    submitAll: (signedOperations) => submitAll(open, signedOperations),
    async getOperation(id) {
      const [entry] = await toEntries(await findOperations(db, 'operation_id', id))
      if (!entry) return undefined
      const { operationId, status, details, transactionId, submittedAt, confirmsAt } = entry
      const times = { submittedAt, confirmsAt }
      return { operationId, status, ...(details !== undefined && { details }), transactionId, ...times }
    },
    getState: readState,
    async findByMasterKey(publicKey) {
      const entries = await toEntries(await findCreates(db, toHex(compressed(publicKey))))
      return entries.filter(({ status }) => status === 'confirmed').map(({ suffix }) => suffix)
    },
    async getEntry(id) {
      const entry = await findEntry(db, id.toLowerCase(), now())
      // A DID that is deactivated has no entries any more.
      return entry && (await readState(entry.suffix!))?.deactivated === false ? entry : undefined
    },
    findEntry: async (id) => (await toEntries(await findOperations(db, 'operation_id', id)))[0],
    listTransaction: async (id) => toEntries(await findOperations(db, 'transaction_id', id)),
    async findLast() {
      const row = await findLastDue(db, now())
      return row && toEntry(open, row)
    },
    readSize: () => readSize(db),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function submitAll(
  open: OpenLedger,
  signedOperations: readonly Uint8Array[],
): Promise<{ operationIds: string[]; transactionId: string }> {
  const { db, states, confirmAfterSeconds, now } = open
  const operations = signedOperations.map(readOperation)
  const operationIds = operations.map(({ operationId }) => operationId)
  const newId = transactionIdOf(operationIds)
  const histories = new Map<string, History>()
  const transactionId = await db.transaction().execute(async (tx) => {
    const submittedAt = now()
    let position = 0
    for (const operation of operations) {
      const { operationId } = operation
      if (await hasOperation(tx, operationId)) continue
      const suffix = operation.suffix ?? (await getOwner(tx, operation.event!))
      const history =
        histories.get(suffix) ?? (await readHistory(tx, suffix, states.get(suffix), submittedAt))
      const submission = { transactionId: newId, position, submittedAt, confirmAfterSeconds }
      histories.set(suffix, await append(tx, history, { ...operation, suffix }, submission))
      position++
    }
    return position > 0 ? newId : getTransactionId(tx, operationIds.at(-1)!)
  })
  // After the commit: a rolled back operation must not stay in the cache.
  for (const [suffix, history] of histories) remember(open, suffix, history)
  return { operationIds, transactionId }
}

/** Caches a committed state. Unpublished DIDs are not cached, because there is any number of them. */
function remember({ states }: OpenLedger, suffix: string, { confirmed }: History): void {
  if (confirmed.sequence > 0) states.set(suffix, confirmed)
}

async function toEntry({ db, now }: OpenLedger, row: OperationRow): Promise<LedgerEntry> {
  const verdict = isConfirmed(row, now()) ? await getVerdict(db, row) : { status: 'pending' as const }
  return {
    operationId: row.operation_id,
    ...verdict,
    submittedAt: row.submitted_at,
    confirmsAt: row.confirms_at,
    transactionId: row.transaction_id,
    sequence: row.sequence,
    position: row.position,
    suffix: row.suffix,
    signedOperation: fromHex(row.signed_operation),
  }
}

/** The id of a transaction. A single operation has the same id as its transaction. */
function transactionIdOf(operationIds: readonly string[]): string {
  return operationIds.length === 1
    ? operationIds[0]!
    : createHash('sha256').update(operationIds.join()).digest('hex')
}
