/** DIDs whose document a wallet writes by itself: their content is in the wallet, and changes at once. */
import { toPrismService } from '../../did/prism/service.ts'
import { checkContextUris } from '../../did/prism/rules.ts'
import { deactivate, type DidContent } from '../../did/prism/state.ts'
import { applyToContent } from '../../did/prism/update.ts'
import type { Wallet } from '../wallet.ts'
import { type DidRow, readContent, updateUnchangedRow, versionOf, writeState } from './dids.ts'
import { insertKeys, type NewKey, toKeyRow, toPrismKey } from './keys.ts'
import type { CreateManagedDid, DidOperationResponse, UpdateAction } from './model.ts'
import { createAddedKeys, toPrismActions } from './template.ts'

/** The content of a DID without any. */
export const empty: DidContent = {
  publicKeys: [],
  services: [],
  contexts: [],
  retiredKeyIds: [],
  retiredServiceIds: [],
  deactivated: false,
}

/** The content of a new DID. @throws {InvalidOperation} */
export function contentOf(
  { services, contexts }: CreateManagedDid['documentTemplate'],
  keys: readonly NewKey[],
): DidContent {
  checkContextUris(contexts)
  return applyToContent(empty, [
    ...keys.map((key) => ({ action: 'addKey' as const, key: toPrismKey(key) })),
    ...services.map((service) => ({ action: 'addService' as const, service: toPrismService(service) })),
    ...(contexts.length > 0 ? [{ action: 'patchContext' as const, contexts }] : []),
  ])
}

/**
 * Updates the content of a DID.
 *
 * @throws {Problem} 409 when it has changed in the meantime.
 * @throws {InvalidOperation}
 */
export async function updateContent(
  wallet: Wallet,
  row: DidRow,
  actions: readonly UpdateAction[],
): Promise<DidOperationResponse> {
  const keys = await createAddedKeys(wallet, row, actions)
  const content = readContent(row.state)
  return replace(wallet, row, applyToContent(content, toPrismActions(actions, keys, content)), keys)
}

/** Removes the content of a DID. @throws {Problem} as `updateContent` */
export function deactivateContent(wallet: Wallet, row: DidRow): Promise<DidOperationResponse> {
  return replace(wallet, row, deactivate(readContent(row.state)), [])
}

async function replace(
  wallet: Wallet,
  row: DidRow,
  content: DidContent,
  keys: NewKey[],
): Promise<DidOperationResponse> {
  const state = writeState(content)
  const id = versionOf(state)
  await wallet.transaction(async (tx) => {
    await updateUnchangedRow(tx, row, { state })
    await insertKeys(
      tx,
      keys.map((key) => toKeyRow(wallet, row.did, id, key)),
    )
  })
  wallet.env.resolver.invalidate(row.did)
  return { scheduledOperation: { id, didRef: row.did } }
}
