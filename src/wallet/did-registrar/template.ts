/** From document templates and update actions of the API to keys and operations of the did:prism method. */
import { facts, namesOf, writtenMethods } from '../../definitions/did-names.ts'
import {
  InvalidOperation,
  masterKeyId,
  type PrismKey,
  type UpdateAction as PrismAction,
} from '../../did/prism/model.ts'
import { checkContextUris, limits, quote } from '../../did/prism/rules.ts'
import { toPrismService, toServiceEndpoint, toServiceType } from '../../did/prism/service.ts'
import type { DidContent } from '../../did/prism/state.ts'
import type { DidRow } from './dids.ts'
import type { Wallet } from '../wallet.ts'
import { createKeys, type KeySpec, type NewKey, nextKeyIndexes, toPrismKey } from './keys.ts'
import type { CreateManagedDid, UpdateAction } from './model.ts'

type Method = DidRow['method']

const accepts = (method: Method, curve: KeySpec['curve']) =>
  facts[method].managed.curves.some((each) => each === curve)

/** @throws {InvalidOperation} for the reserved id, or a curve that does not fit the purpose or the method */
function checkKeySpec({ id, usage, curve }: KeySpec, method: Method): void {
  if (id === masterKeyId)
    throw new InvalidOperation(`the key id ${masterKeyId} is reserved for the master key`)
  const accepting = writtenMethods.filter((name) => accepts(name, curve))
  if (!accepting.includes(method))
    throw new InvalidOperation(
      `key ${quote(id)}: ${facts[method].kind === 'ledger' ? 'the ledger of ' : ''}did:${method} accepts no ${curve} keys. Use a ${namesOf(accepting)}, or another curve`,
    )
  const isSupported =
    curve === 'secp256k1' ||
    ((curve === 'Ed25519' || curve === 'P-256') &&
      (usage === 'authentication' || usage === 'assertionMethod')) ||
    (curve === 'X25519' && usage === 'keyAgreement')
  if (isSupported) return
  throw new InvalidOperation(
    `key ${quote(id)}: Ed25519 must be used in [Authentication, AssertionMethod]. X25519 must be used in [KeyAgreement]${curve === 'P-256' ? '. P-256 must be used in [Authentication, AssertionMethod]' : ''}`,
  )
}

/** The public keys of a template, then its internal keys. @throws {InvalidOperation} */
export function keysOfTemplate(
  { publicKeys, internalKeys }: CreateManagedDid['documentTemplate'],
  method: Method,
): KeySpec[] {
  const specs: KeySpec[] = [
    ...publicKeys.map(({ id, purpose, curve }) => ({ id, usage: purpose, curve })),
    ...internalKeys.map(({ id, purpose }) => ({ id, usage: purpose, curve: 'secp256k1' as const })),
  ]
  // Checked before deriving keys, which is slow. The master key counts.
  if (specs.length >= limits.keys)
    throw new InvalidOperation(`${specs.length + 1} keys are more than ${limits.keys}`)
  for (const spec of specs) checkKeySpec(spec, method)
  return specs
}

/** Creates the keys that an update adds, in order. @throws {InvalidOperation} as `checkKeySpec`. */
export async function createAddedKeys(
  wallet: Wallet,
  { did, did_index, method }: DidRow,
  actions: readonly UpdateAction[],
): Promise<NewKey[]> {
  const specs = actions.flatMap(toKeySpec)
  for (const spec of specs) checkKeySpec(spec, method)
  return createKeys(wallet, did_index, specs, await nextKeyIndexes(wallet, did))
}

function toKeySpec(action: UpdateAction): KeySpec[] {
  if (action.actionType === 'ADD_KEY') {
    const { id, purpose: usage, curve } = action.addKey
    return [{ id, usage, curve }]
  }
  if (action.actionType !== 'ADD_INTERNAL_KEY') return []
  const { id, purpose: usage } = action.addInternalKey
  return [{ id, usage, curve: 'secp256k1' }]
}

/** The actions of a did:prism update, in order. `newKeys` are those of `createAddedKeys`. */
export function toPrismActions(
  actions: readonly UpdateAction[],
  newKeys: readonly NewKey[],
  state: DidContent,
): PrismAction[] {
  const keys = newKeys.values()
  return actions.map((action) => {
    switch (action.actionType) {
      case 'ADD_KEY':
      case 'ADD_INTERNAL_KEY':
        return { action: 'addKey', key: toPrismKey(keys.next().value!) }
      case 'REMOVE_KEY':
        return removeKey(state, action.removeKey.id, false)
      case 'REMOVE_INTERNAL_KEY':
        return removeKey(state, action.removeInternalKey.id, true)
      case 'ADD_SERVICE':
        return { action: 'addService', service: toPrismService(action.addService) }
      case 'REMOVE_SERVICE':
        return { action: 'removeService', id: action.removeService.id }
      case 'UPDATE_SERVICE': {
        const { id, type, serviceEndpoint } = action.updateService
        return {
          action: 'updateService',
          id,
          type: type == null ? '' : toServiceType(type),
          serviceEndpoint: serviceEndpoint == null ? '' : toServiceEndpoint(serviceEndpoint),
        }
      }
      case 'PATCH_CONTEXT':
        checkContextUris(action.patchContext.contexts)
        return { action: 'patchContext', contexts: action.patchContext.contexts }
    }
  })
}

/** Removes a key. The API has one action for internal keys and one for others, did:prism one for both. */
function removeKey(state: DidContent, id: string, isInternal: boolean): PrismAction {
  if (id === masterKeyId)
    throw new InvalidOperation(`the key id ${masterKeyId} is reserved for the master key`)
  const key = state.publicKeys.find((active) => active.id === id)
  if (key && isInternalKey(key) !== isInternal) {
    const wanted = isInternal ? 'REMOVE_KEY' : 'REMOVE_INTERNAL_KEY'
    throw new InvalidOperation(
      `key ${quote(id)} is ${isInternal ? 'not an' : 'an'} internal key: remove it with ${wanted}`,
    )
  }
  return { action: 'removeKey', id }
}

function isInternalKey({ usage }: PrismKey): boolean {
  return usage === 'vdr' || usage === 'master' || usage === 'revocation'
}
