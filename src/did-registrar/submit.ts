/** The way of an operation to the ledger and back (service §3.4, api.md 5.4): a task of the worker. */
import { fromHex } from '../base/bytes.ts'
import { steadyNow } from '../base/clock.ts'
import { Problem } from '../base/problem.ts'
import type { DidState } from '../did/prism/state.ts'
import { appendEvent } from '../events/event.ts'
import type { Tx } from '../storage/database.ts'
import type { LedgerOperation } from '../vdr/ledger.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { LaterError, type Task } from '../wallet/task.ts'
import { changeDid, getDidRow, toManagedDid, type DidRow } from './dids.ts'
import type { Failure } from './model.ts'
import type { OperationRow } from './operation.ts'
import { readState, writeState } from './state.ts'

/** The wait for a ledger that does not tell when it confirms: as long as the operation has waited already, within these bounds. */
const shortestWaitMs = 1_000
const longestWaitMs = 30_000

/** A ledger that has taken an operation in and has not judged it after this time may have lost it. */
const forgottenAfterMs = 6 * 3_600_000

/**
 * Brings an operation to the ledger once, asks what has come of it, and writes that down when it is certain.
 *
 * What delays it is told by the DID: a ledger that cannot be reached, or one that does not show what it says it has confirmed.
 */
export const submitTask: Task = async (wallet, operationId) => {
  const row = await getOperationRow(wallet, operationId)
  const did = await getDidRow(wallet.db, row.did)
  if (did.pending_operation !== operationId) return () => Promise.resolve()
  try {
    return await settle(wallet, row, did)
  } catch (error) {
    if (error instanceof Problem) await noteFailure(wallet, did, error)
    throw error
  }
}

/**
 * Writes down what has become of a DID's operation, when the ledger has judged it and the wallet has not noted it yet. An operation that the
 * ledger has not judged stays under way.
 */
export async function noteVerdict(wallet: Wallet, did: DidRow): Promise<void> {
  if (did.pending_operation === null) return
  const operation = await wallet.env.ledger.getOperation(did.pending_operation)
  if (!operation || operation.status === 'pending') return
  const row = await getOperationRow(wallet, did.pending_operation)
  await wallet.transaction(await conclude(wallet, row, did, operation))
}

function getOperationRow({ db }: Wallet, id: string): Promise<OperationRow> {
  return db.selectFrom('did_operation').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

async function settle(wallet: Wallet, row: OperationRow, did: DidRow): Promise<(tx: Tx) => Promise<void>> {
  const operation = await bring(wallet, row)
  if (!operation || operation.status === 'pending') throw later(operation, row)
  return conclude(wallet, row, did, operation)
}

/** What writes an operation's verdict down, unless that has been done since. */
async function conclude(
  wallet: Wallet,
  row: OperationRow,
  did: DidRow,
  operation: LedgerOperation,
): Promise<(tx: Tx) => Promise<void>> {
  const write = await judge(wallet, row, did, operation)
  return async (tx) => {
    const now = await tx
      .selectFrom('did')
      .select('pending_operation')
      .where('did', '=', did.did)
      .executeTakeFirstOrThrow()
    if (now.pending_operation === row.id) await write(tx)
  }
}

async function judge(
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

/** How far the operation is. It is handed in once, since elsewhere that may cost money; a ledger that forgets it gets it again. */
async function bring(
  wallet: Wallet,
  { id, signed_operation, submitted_at }: OperationRow,
): Promise<LedgerOperation | undefined> {
  const { ledger } = wallet.env
  const isSubmitted = submitted_at !== null && steadyNow() - Date.parse(submitted_at) < forgottenAfterMs
  if (isSubmitted) return ledger.getOperation(id)
  const refused = await ledger.submit(fromHex(signed_operation)).then(() => undefined, toRefusal)
  if (refused !== undefined) return { operationId: id, status: 'rejected', details: refused }
  let operation: LedgerOperation | undefined
  try {
    operation = await ledger.getOperation(id)
  } finally {
    if (!operation || operation.status === 'pending') await wallet.transaction((tx) => noteSubmitted(tx, id))
  }
  return operation
}

/** Why a ledger does not take an operation in at all, now or later. @throws whatever else went wrong. */
function toRefusal(error: unknown): string {
  if (error instanceof Problem && error.status === 400) return error.message
  throw error
}

async function noteSubmitted(tx: Tx, id: string): Promise<void> {
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
      'The ledger says that it has confirmed the operation, but does not show what it changes.',
    )
  }
  return async (tx) => {
    const change = {
      status: 'PUBLISHED',
      state: writeState(state),
      pending_operation: null,
      failure: null,
    } as const
    await changeDid(tx, did.did, change)
    // Publication alone is announced (service §3.4).
    if (kind === 'create')
      await appendEvent(tx, {
        type: 'DIDStatusUpdated',
        subject: did.did,
        data: toManagedDid({ ...did, ...change }),
      })
  }
}

/** What the ledger shows all the same is the truth: another wallet of the same seed may have been quicker. */
function reject(
  did: DidRow,
  row: OperationRow,
  state: DidState | undefined,
  details = 'for no reason that it tells',
): (tx: Tx) => Promise<void> {
  if (row.kind === 'create' && state) return confirm(did, row, state, state)
  const detail = `The ledger rejected the ${row.kind} operation ${row.id}: ${details}`
  const failure: Failure = { status: 422, type: 'UnprocessableEntity', title: 'UnprocessableEntity', detail }
  return (tx) =>
    changeDid(tx, did.did, {
      status: row.kind === 'create' ? 'CREATED' : 'PUBLISHED',
      pending_operation: null,
      failure: JSON.stringify(failure),
      ...(state && { state: writeState(state) }),
    })
}

async function noteFailure(
  wallet: Wallet,
  { did, failure: known }: DidRow,
  { status, type, title, message: detail }: Problem,
): Promise<void> {
  const failure = JSON.stringify({ status, type, title, detail } satisfies Failure)
  if (failure !== known) await wallet.transaction((tx) => changeDid(tx, did, { failure }))
}
