/**
 * The wallet's did:prism DIDs. Operations on them take effect when the ledger confirms them, one per DID at a
 * time.
 */
import { toLongForm, toShortForm } from '../../did/prism/did.ts'
import {
  type DeactivateOperation,
  InvalidOperation,
  masterKeyId,
  type UpdateOperation,
} from '../../did/prism/model.ts'
import { encodeOperation, operationHash, operationId, signOperation } from '../../did/prism/operations.ts'
import { checkContextUris } from '../../did/prism/rules.ts'
import { toPrismService } from '../../did/prism/service.ts'
import { apply, createState, type DidState } from '../../did/prism/state.ts'
import type { Wallet } from '../wallet.ts'
import { forgetDid, type DidRow, newRow, readState, updateUnchangedRow, writeState } from './dids.ts'
import { insertDid, type NewDid } from './insert.ts'
import { createKeys, findPrivateKey, insertKeys, type NewKey, toKeyRow, toPrismKey } from './keys.ts'
import type { ManagedMethod } from './methods.ts'
import type { CreateManagedDid, DidOperationResponse } from './model.ts'
import { enqueueSubmit, getCreateOperation, insertOperation, toOperationRow } from './operation.ts'
import { restoreDids } from './restore.ts'
import { createAddedKeys, keysOfTemplate, toPrismActions } from './template.ts'

export const prism = {
  create: createPrismDid,
  publish,
  async update(wallet, row, actions) {
    const keys = await createAddedKeys(wallet, row, actions)
    const prismActions = toPrismActions(actions, keys, readState(row.state))
    return schedule(wallet, row, { operation: 'update', actions: prismActions }, keys)
  },
  deactivate: (wallet, row) => schedule(wallet, row, { operation: 'deactivate' }, []),
  restore: restoreDids,
} satisfies ManagedMethod

/**
 * Creates a did:prism and returns its long form.
 *
 * @throws {InvalidOperation} when the template breaks a rule.
 */
export async function createPrismDid(wallet: Wallet, template: CreateManagedDid): Promise<string> {
  const { long_form } = await insertDid(
    wallet,
    (didIndex) => createRows(wallet, template, didIndex),
    template.label,
  )
  return long_form!
}

/** The rows of a DID. Keys have the Cloud Agent's order: public keys, internal keys, master key. */
async function createRows(
  wallet: Wallet,
  { documentTemplate }: CreateManagedDid,
  didIndex: number,
): Promise<NewDid> {
  const { services, contexts } = documentTemplate
  const specs = keysOfTemplate(documentTemplate, 'prism')
  checkContextUris(contexts)
  const master = { id: masterKeyId, usage: 'master', curve: 'secp256k1' } as const
  const keys = await createKeys(wallet, didIndex, [...specs, master], new Map())
  const operation = encodeOperation({
    operation: 'create',
    publicKeys: keys.map(toPrismKey),
    services: services.map(toPrismService),
    contexts,
  })
  const state = createState(operation)
  const did = toShortForm(operationHash(operation))
  const signed = signOperation(operation, masterKeyId, keys.at(-1)!.jwk)
  const id = operationId(signed)
  return {
    row: newRow({
      did,
      method: 'prism',
      long_form: toLongForm(operation),
      did_index: didIndex,
      status: 'CREATED',
      state: writeState(state),
    }),
    operation: toOperationRow({ id, did, kind: 'create', signed }),
    keys: keys.map((key) => toKeyRow(wallet, did, id, key)),
  }
}

async function publish(wallet: Wallet, { did }: DidRow): Promise<DidOperationResponse> {
  const { id } = await getCreateOperation(wallet.db, did)
  await wallet.transaction(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('did')
      .set({
        status: 'PUBLICATION_PENDING',
        pending_operation: id,
        failure: null,
        updated_at: new Date().toISOString(),
      })
      .where('did', '=', did)
      .where('status', '=', 'CREATED')
      .executeTakeFirst()
    forgetDid(tx, did)
    if (numUpdatedRows !== 0n) await enqueueSubmit(tx, did, id)
  })
  return { scheduledOperation: { id, didRef: did } }
}

/** Signs an operation, and stores it with its keys and the job to submit it. @throws {InvalidOperation} */
async function schedule(
  wallet: Wallet,
  before: DidRow,
  change: Pick<UpdateOperation, 'operation' | 'actions'> | Pick<DeactivateOperation, 'operation'>,
  keys: NewKey[],
): Promise<DidOperationResponse> {
  const { did, did_index } = before
  const state = readState(before.state)
  const { suffix, lastOperationHash: previousHash } = state
  const operation = encodeOperation({ ...change, suffix, previousHash })
  const signed = await sign(wallet, did, did_index, state, operation)
  // Report an invalid operation now. The ledger would reject it later.
  apply(state, signed, new Date())
  const id = operationId(signed)
  await wallet.transaction(async (tx) => {
    await updateUnchangedRow(tx, before, { pending_operation: id, failure: null })
    await insertOperation(tx, { id, did, kind: change.operation, signed })
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
