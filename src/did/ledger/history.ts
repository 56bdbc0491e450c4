/**
 * The history of a DID in the embedded ledger: which operations are confirmed, which are pending, and the
 * resulting states.
 *
 * Files of earlier versions may contain operations that are rejected, or without verdict (`verdict` null).
 * The latter are checked on read.
 */
import { toHex, fromHex } from '../../foundation/bytes.ts'
import { Problem } from '../../foundation/problem.ts'
import { InvalidOperation } from '../prism/model.ts'
import { apply, type DidState } from '../prism/state.ts'
import type { LedgerOperation, ReadOperation } from './ledger.ts'
import { addEvent, checkChain } from './entry-table.ts'
import { addOperation, type LedgerDb, listOperations, type OperationRow } from './operation-table.ts'

const maxPending = 20

/** The state of a DID after the confirmed operations up to `sequence`. */
export type Confirmed = { sequence: number; state: DidState | undefined }

/** The confirmed state of a DID, its pending operations, and its state once they are confirmed. */
export type History = {
  confirmed: Confirmed
  pending: Pick<OperationRow, 'confirms_at'>[]
  latest: DidState | undefined
}

/** Reads the history of a DID, continuing from a known confirmed state. */
export async function readHistory(
  tx: LedgerDb,
  suffix: string,
  known: Confirmed | undefined,
  now: Date,
): Promise<History> {
  const from = known ?? { sequence: 0, state: undefined }
  const rows = await listOperations(tx, suffix, from.sequence)
  const due = rows.filter((row) => isConfirmed(row, now))
  const pending = rows.slice(due.length)
  const state = due.reduce(applyRow, from.state)
  const confirmed = { sequence: due.at(-1)?.sequence ?? from.sequence, state }
  return { confirmed, pending, latest: pending.reduce(applyRow, state) }
}

export type Submission = {
  transactionId: string
  position: number
  submittedAt: Date
  confirmAfterSeconds: number
}

/** Checks and stores an operation. Returns the history with it. @throws {Problem} 400, 429 */
export async function append(
  tx: LedgerDb,
  { confirmed, pending, latest }: History,
  operation: ReadOperation & { suffix: string },
  { transactionId, position, submittedAt, confirmAfterSeconds }: Submission,
): Promise<History> {
  if (pending.length >= maxPending) throw tooManyPending(pending[0]!, submittedAt)
  const confirmsAt = new Date(submittedAt.getTime() + confirmAfterSeconds * 1_000).toISOString()
  const times = {
    submitted_at: submittedAt.toISOString(),
    // Other processes may have a longer delay or a clock ahead. Keep the order on one DID.
    confirms_at: [confirmsAt, ...pending.map(({ confirms_at }) => confirms_at)].toSorted().at(-1)!,
  }
  const { state, details } = attempt(latest, { signed_operation: toHex(operation.signedOperation), ...times })
  if (details !== undefined)
    throw new Problem('BadRequest', `the signed operation is not accepted: ${details}`)
  const entryId = operation.event && (await checkChain(tx, operation.event))
  const sequence = await addOperation(tx, operation, { transaction_id: transactionId, position, ...times })
  if (entryId !== undefined)
    await addEvent(tx, {
      hash: operation.event!.hash,
      entry_id: entryId,
      suffix: operation.suffix,
      sequence,
    })
  return isConfirmed(times, submittedAt)
    ? { confirmed: { sequence, state }, pending, latest: state }
    : { confirmed, pending: [...pending, times], latest: state }
}

function tooManyPending({ confirms_at }: Pick<OperationRow, 'confirms_at'>, now: Date): Problem {
  const retryAfter = Math.max(1, Math.ceil((Date.parse(confirms_at) - now.getTime()) / 1_000))
  const detail = `the DID has ${maxPending} operations that are not confirmed yet; try again in ${retryAfter} seconds`
  return new Problem('TooManyRequests', detail, { retryAfter })
}

/** True from `confirms_at` on. Without delay, also after the system clock was set back. */
export function isConfirmed(row: Pick<OperationRow, 'submitted_at' | 'confirms_at'>, now: Date): boolean {
  return row.confirms_at <= now.toISOString() || row.confirms_at <= row.submitted_at
}

/** The verdict of a due operation. In files of earlier versions, it follows from the operations up to it. */
export async function getVerdict(
  db: LedgerDb,
  { verdict, details, suffix, sequence }: OperationRow,
): Promise<Pick<LedgerOperation, 'status' | 'details'>> {
  if (verdict !== null) return { status: verdict, ...(details !== null && { details }) }
  const rows = (await listOperations(db, suffix, 0)).filter((row) => row.sequence <= sequence)
  const result = attempt(rows.slice(0, -1).reduce(applyRow, undefined), rows.at(-1)!)
  return result.details === undefined
    ? { status: 'confirmed' }
    : { status: 'rejected', details: result.details }
}

function applyRow(state: DidState | undefined, row: OperationRow): DidState | undefined {
  return row.verdict === 'rejected' ? state : attempt(state, row).state
}

/** The state after an operation, or the unchanged state and the rule that the operation breaks. */
function attempt(
  state: DidState | undefined,
  row: Pick<OperationRow, 'signed_operation' | 'confirms_at'>,
): { state: DidState | undefined; details?: string } {
  try {
    return { state: apply(state, fromHex(row.signed_operation), new Date(row.confirms_at)) }
  } catch (error) {
    if (error instanceof InvalidOperation) return { state, details: error.message }
    throw error
  }
}
