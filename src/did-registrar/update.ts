/** Changes to a published DID: updates and deactivation, one at a time, visible once the ledger has confirmed them (api.md 4.4). */
import { Problem } from '../base/problem.ts'
import { type DeactivateOperation, InvalidOperation, type UpdateOperation } from '../did/prism/model.ts'
import { encodeOperation, operationId, signOperation } from '../did/prism/operations.ts'
import { apply, type DidState, end } from '../did/prism/state.ts'
import { changeContent } from '../did/prism/update.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { toPrismActions, wantedKeys } from './actions.ts'
import { busy, changeUnchanged, getDidRow, type DidRow } from './dids.ts'
import { countKeys, findPrivateKey, makeKeys, putKeys, toKeyRow, type NewKey } from './keys.ts'
import type { DidOperationResponse } from './model.ts'
import { putOperation } from './operation.ts'
import { readContent, readState } from './state.ts'
import { noteVerdict } from './submit.ts'
import type { UpdateManagedDid } from './update-model.ts'
import { changeWebDid } from './web.ts'

/**
 * Promises to change a DID.
 *
 * @throws {Problem} 400 for an action that breaks a rule, 404 for another wallet's DID, 409 for one that is not published, is deactivated,
 * or has an operation under way.
 */
export async function updateDid(
  wallet: Wallet,
  didRef: string,
  { actions }: UpdateManagedDid,
): Promise<DidOperationResponse> {
  const row = await getChangeable(wallet, didRef)
  return refusing(async () => {
    const keys = await makeKeys(wallet, row.did_index, wantedKeys(actions), await countKeys(wallet, row.did))
    if (row.method === 'web') {
      const content = readContent(row.state)
      return changeWebDid(wallet, row, changeContent(content, toPrismActions(actions, keys, content)), keys)
    }
    const state = readState(row.state)
    const { suffix, lastOperationHash: previousHash } = state
    return promise(
      wallet,
      row,
      state,
      { operation: 'update', suffix, previousHash, actions: toPrismActions(actions, keys, state) },
      keys,
    )
  })
}

/** Promises to end a DID for good. @throws {Problem} as `updateDid`. */
export async function deactivateDid(wallet: Wallet, didRef: string): Promise<DidOperationResponse> {
  const row = await getChangeable(wallet, didRef)
  return refusing(async () => {
    if (row.method === 'web') return changeWebDid(wallet, row, end(readContent(row.state)), [])
    const state = readState(row.state)
    const { suffix, lastOperationHash: previousHash } = state
    return promise(wallet, row, state, { operation: 'deactivate', suffix, previousHash }, [])
  })
}

async function getChangeable(wallet: Wallet, didRef: string): Promise<DidRow> {
  const row = await readSettled(wallet, didRef)
  if (row.status !== 'PUBLISHED')
    throw new Problem(
      'Conflict',
      `The DID ${row.did} is ${row.status}: it must be PUBLISHED before it can be changed.`,
    )
  if (readContent(row.state).deactivated)
    throw new Problem('Conflict', `The DID ${row.did} is deactivated, which is final.`)
  if (row.pending_operation !== null) throw busy(row.did)
  return row
}

/** A DID's row, after the ledger was asked about an operation that is under way: others may see it on the ledger before the wallet does. */
async function readSettled(wallet: Wallet, didRef: string): Promise<DidRow> {
  const row = await getDidRow(wallet.db, didRef)
  if (row.pending_operation === null) return row
  try {
    await noteVerdict(wallet, row)
  } catch (error) {
    if (!(error instanceof Problem && error.type === 'error:ServiceUnavailable')) throw error
    return row
  }
  return getDidRow(wallet.db, didRef)
}

async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof InvalidOperation)) throw error
    throw new Problem('BadRequest', `The update is not accepted: ${error.message}.`, { cause: error })
  }
}

/** Signs an operation, and writes it down with its keys and the debt to bring it to the ledger. @throws {InvalidOperation} */
async function promise(
  wallet: Wallet,
  before: DidRow,
  state: DidState,
  operation: UpdateOperation | DeactivateOperation,
  keys: NewKey[],
): Promise<DidOperationResponse> {
  const { did, did_index } = before
  const signed = await sign(wallet, did, did_index, state, encodeOperation(operation))
  // What the ledger would reject is told at once.
  apply(state, signed, new Date())
  const id = operationId(signed)
  await wallet.transaction(async (tx) => {
    await changeUnchanged(tx, before, { pending_operation: id, failure: null })
    await putOperation(tx, { id, did, kind: operation.operation, signed })
    await putKeys(
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
  throw new InvalidOperation('this wallet has no master key of the DID any more')
}
