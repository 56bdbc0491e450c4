/** The worker's task that submits an operation to the ledger and stores its verdict. */
import { fromHex } from '../../foundation/bytes.ts'
import { steadyNow } from '../../foundation/clock.ts'
import { Problem } from '../../foundation/problem.ts'
import type { DidState } from '../../did/prism/state.ts'
import { appendEvent } from '../events/event.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { noteCount } from '../../foundation/storage/tx-context.ts'
import type { LedgerOperation } from '../../did/ledger/ledger.ts'
import { LaterError, type Task, type Wallet } from '../wallet.ts'
import { type DidRow, getDidRow, readState, toManagedDid, updateDidRow, writeState } from './dids.ts'
import type { Failure } from './model.ts'
import type { OperationRow } from './operation.ts'

/** Limits of the polling interval, which is the time since submission, for a ledger without `confirmsAt`. */
const shortestWaitMs = 1_000
const longestWaitMs = 30_000

/** A ledger without verdict after this time may have lost the operation, so it is submitted again. */
const resubmitAfterMs = 6 * 3_600_000

/**
 * Submits an operation once, and stores its verdict when the ledger has one. The DID shows what delays it
 * (`failure`): a ledger that cannot be reached, or that does not show the state it claims to have confirmed.
 */
export const submitTask: Task = async (wallet, operationId) => {
  const row = await getOperationRow(wallet, operationId)
  const did = await getDidRow(wallet.db, row.did)
  if (did.pending_operation !== operationId) return () => Promise.resolve()
  try {
    const operation = await submitOnce(wallet, row)
    if (!operation || operation.status === 'pending') throw later(operation, row)
    return await toWrite(wallet, row, did, operation)
  } catch (error) {
    if (error instanceof Problem) await storeFailure(wallet, did, error)
    throw error
  }
}

/** Stores the verdict of a DID's pending operation, if the ledger has one. */
export async function storeVerdict(wallet: Wallet, did: DidRow): Promise<void> {
  if (did.pending_operation === null) return
  const operation = await wallet.env.ledger.getOperation(did.pending_operation)
  if (!operation || operation.status === 'pending') return
  const row = await getOperationRow(wallet, did.pending_operation)
  await wallet.transaction(await toWrite(wallet, row, did, operation))
}

function getOperationRow({ db }: Wallet, id: string): Promise<OperationRow> {
  return db.selectFrom('did_operation').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

/** The write that stores an operation's verdict, unless it is stored already. */
async function toWrite(
  wallet: Wallet,
  row: OperationRow,
  did: DidRow,
  operation: LedgerOperation,
): Promise<(tx: Tx) => Promise<void>> {
  const write = await applyVerdict(wallet, row, did, operation)
  return async (tx) => {
    const now = await tx
      .selectFrom('did')
      .select('pending_operation')
      .where('did', '=', did.did)
      .executeTakeFirstOrThrow()
    if (now.pending_operation !== row.id || operation.status === 'pending') return
    noteCount(tx, 'agent_did_operations_total', { operation: row.kind, result: operation.status })
    await write(tx)
  }
}

async function applyVerdict(
  wallet: Wallet,
  row: OperationRow,
  did: DidRow,
  operation: LedgerOperation,
): Promise<(tx: Tx) => Promise<void>> {
  const before = readState(did.state)
  wallet.env.resolver.invalidate(did.did)
  const state = await wallet.env.ledger.getState(before.suffix)
  if (operation.status === 'confirmed') return confirm(did, row, before, state)
  wallet.env.log.warn(
    { walletId: wallet.id, did: did.did, operationId: row.id, reason: operation.details },
    'the ledger rejected an operation',
  )
  return reject(did, row, state, operation.details)
}

/** Submits an operation once, because submission may cost money. Returns its status on the ledger. */
async function submitOnce(
  wallet: Wallet,
  { id, signed_operation, submitted_at }: OperationRow,
): Promise<LedgerOperation | undefined> {
  const { ledger } = wallet.env
  const isSubmitted = submitted_at !== null && steadyNow() - Date.parse(submitted_at) < resubmitAfterMs
  if (isSubmitted) return ledger.getOperation(id)
  const refused = await ledger.submit(fromHex(signed_operation)).then(() => undefined, toRefusal)
  if (refused !== undefined) return { operationId: id, status: 'rejected', details: refused }
  let operation: LedgerOperation | undefined
  try {
    operation = await ledger.getOperation(id)
  } finally {
    if (!operation || operation.status === 'pending') await wallet.transaction((tx) => storeSubmitted(tx, id))
  }
  return operation
}

/** The reason of a permanent refusal (400). @throws other errors. */
function toRefusal(error: unknown): string {
  if (error instanceof Problem && error.status === 400) return error.message
  throw error
}

async function storeSubmitted(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('did_operation')
    .set({ submitted_at: new Date(steadyNow()).toISOString() })
    .where('id', '=', id)
    .execute()
}

function later(operation: LedgerOperation | undefined, { submitted_at }: OperationRow): LaterError {
  if (operation?.confirmsAt !== undefined)
    return new LaterError(new Date(steadyNow() + Math.max(0, Date.parse(operation.confirmsAt) - Date.now())))
  const waitedMs = submitted_at === null ? 0 : steadyNow() - Date.parse(submitted_at)
  return new LaterError(new Date(steadyNow() + Math.min(longestWaitMs, Math.max(shortestWaitMs, waitedMs))))
}

function confirm(
  did: DidRow,
  { kind }: OperationRow,
  before: DidState,
  state: DidState | undefined,
): (tx: Tx) => Promise<void> {
  if (!state || (kind !== 'create' && state.lastOperationHash === before.lastOperationHash)) {
    throw new Problem(
      'error:ServiceUnavailable',
      'The ledger reports the operation as confirmed, but does not return the changed state yet.',
    )
  }
  return async (tx) => {
    const change = {
      status: 'PUBLISHED',
      state: writeState(state),
      pending_operation: null,
      failure: null,
    } as const
    await updateDidRow(tx, did.did, change)
    // The Cloud Agent sends an event for the publication only.
    if (kind === 'create')
      await appendEvent(tx, {
        type: 'DIDStatusUpdated',
        subject: did.did,
        data: toManagedDid({ ...did, ...change }),
      })
  }
}

/** Stores a rejection. Another wallet with the same seed may have published the DID nevertheless. */
function reject(
  did: DidRow,
  row: OperationRow,
  state: DidState | undefined,
  details = 'without a reason',
): (tx: Tx) => Promise<void> {
  if (row.kind === 'create' && state) return confirm(did, row, state, state)
  const detail = `The ledger rejected the ${row.kind} operation ${row.id}: ${details}`
  const failure: Failure = { status: 422, type: 'UnprocessableEntity', title: 'UnprocessableEntity', detail }
  return (tx) =>
    updateDidRow(tx, did.did, {
      status: row.kind === 'create' ? 'CREATED' : 'PUBLISHED',
      pending_operation: null,
      failure: JSON.stringify(failure),
      ...(state && { state: writeState(state) }),
    })
}

async function storeFailure(
  wallet: Wallet,
  { did, failure: known }: DidRow,
  { status, type, title, message: detail }: Problem,
): Promise<void> {
  const failure = JSON.stringify({ status, type, title, detail } satisfies Failure)
  if (failure !== known) await wallet.transaction((tx) => updateDidRow(tx, did, { failure }))
}
