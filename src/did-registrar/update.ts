/**
 * Updates and deactivation of published DIDs. One operation per DID is pending at a time; it takes effect
 * when the ledger confirms it.
 */
import { Problem } from '../base/problem.ts'
import { type DeactivateOperation, InvalidOperation, type UpdateOperation } from '../did/prism/model.ts'
import { encodeOperation, operationId, signOperation } from '../did/prism/operations.ts'
import { apply, deactivate, type DidState } from '../did/prism/state.ts'
import { applyToContent } from '../did/prism/update.ts'
import type { Wallet } from '../wallet/wallet.ts'
import {
  type DidRow,
  getDidRow,
  operationPending,
  readContent,
  readState,
  updateUnchangedRow,
} from './dids.ts'
import { createKeys, findPrivateKey, insertKeys, type NewKey, nextKeyIndexes, toKeyRow } from './keys.ts'
import type { DidOperationResponse, UpdateManagedDid } from './model.ts'
import { insertOperation } from './operation.ts'
import { storeVerdict } from './submit.ts'
import { keysOfActions, toPrismActions } from './template.ts'
import { updateWebDid } from './web.ts'

/**
 * Enqueues the update of a DID.
 *
 * @throws {Problem} 400 for an invalid action, 404 for a DID that is not in the wallet, 409 for a did:key or
 * did:jwk, and for a DID that is not published, is deactivated, or has a pending operation.
 */
export async function updateDid(
  wallet: Wallet,
  didRef: string,
  { actions }: UpdateManagedDid,
): Promise<DidOperationResponse> {
  const row = await getChangeable(wallet, didRef)
  return withProblems(async () => {
    const indexes = await nextKeyIndexes(wallet, row.did)
    const keys = await createKeys(wallet, row.did_index, keysOfActions(actions, row.method), indexes)
    if (row.method === 'web') {
      const content = readContent(row.state)
      return updateWebDid(wallet, row, applyToContent(content, toPrismActions(actions, keys, content)), keys)
    }
    const state = readState(row.state)
    const { suffix, lastOperationHash: previousHash } = state
    return scheduleOperation(
      wallet,
      row,
      state,
      { operation: 'update', suffix, previousHash, actions: toPrismActions(actions, keys, state) },
      keys,
    )
  })
}

/** Enqueues the deactivation of a DID. @throws {Problem} as `updateDid`. */
export async function deactivateDid(wallet: Wallet, didRef: string): Promise<DidOperationResponse> {
  const row = await getChangeable(wallet, didRef)
  return withProblems(async () => {
    if (row.method === 'web') return updateWebDid(wallet, row, deactivate(readContent(row.state)), [])
    const state = readState(row.state)
    const { suffix, lastOperationHash: previousHash } = state
    return scheduleOperation(wallet, row, state, { operation: 'deactivate', suffix, previousHash }, [])
  })
}

async function getChangeable(wallet: Wallet, didRef: string): Promise<DidRow> {
  const row = await readResolved(wallet, didRef)
  if (row.method === 'key' || row.method === 'jwk')
    throw new Problem(
      'Conflict',
      `The DID ${row.did.slice(0, 100)} is its key, and cannot be changed or deactivated. Create another.`,
    )
  if (row.status !== 'PUBLISHED')
    throw new Problem(
      'Conflict',
      `The DID ${row.did} is ${row.status}: it must be PUBLISHED before it can be changed.`,
    )
  if (readContent(row.state).deactivated)
    throw new Problem('Conflict', `The DID ${row.did} is deactivated, which is final.`)
  if (row.pending_operation !== null) throw operationPending(row.did)
  return row
}

/** A DID's row, after storing the verdict of its pending operation. The worker may not have stored it yet. */
async function readResolved(wallet: Wallet, didRef: string): Promise<DidRow> {
  const row = await getDidRow(wallet.db, didRef)
  if (row.pending_operation === null) return row
  try {
    await storeVerdict(wallet, row)
  } catch (error) {
    if (!(error instanceof Problem && error.type === 'error:ServiceUnavailable')) throw error
    return row
  }
  return getDidRow(wallet.db, didRef)
}

async function withProblems<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof InvalidOperation)) throw error
    throw new Problem('BadRequest', `The update is not accepted: ${error.message}.`, { cause: error })
  }
}

/** Signs an operation, and stores it with its keys and the job to submit it. @throws {InvalidOperation} */
async function scheduleOperation(
  wallet: Wallet,
  before: DidRow,
  state: DidState,
  operation: UpdateOperation | DeactivateOperation,
  keys: NewKey[],
): Promise<DidOperationResponse> {
  const { did, did_index } = before
  const signed = await sign(wallet, did, did_index, state, encodeOperation(operation))
  // Report an invalid operation now. The ledger would reject it later.
  apply(state, signed, new Date())
  const id = operationId(signed)
  await wallet.transaction(async (tx) => {
    await updateUnchangedRow(tx, before, { pending_operation: id, failure: null })
    await insertOperation(tx, { id, did, kind: operation.operation, signed })
    await insertKeys(
      tx,
      keys.map((key) => toKeyRow(wallet, did, id, key)),
    )
  })
  return { scheduledOperation: { id, didRef: did } }
}

async function sign(
  wallet: Wallet,
  did: string,
  didIndex: number,
  state: DidState,
  operation: Uint8Array,
): Promise<Uint8Array> {
  for (const key of state.publicKeys.filter(({ usage }) => usage === 'master')) {
    const privateJwk = await findPrivateKey(wallet, did, didIndex, key)
    if (privateJwk) return signOperation(operation, key.id, privateJwk)
  }
  throw new InvalidOperation('this wallet has no master key of the DID')
}
