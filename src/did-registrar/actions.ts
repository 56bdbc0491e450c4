/** The actions of an update between REST's names and the method's (api.md 4.4, wire.md 11.3). */
import {
  InvalidOperation,
  masterKeyId,
  type PrismKey,
  type UpdateAction as PrismAction,
} from '../did/prism/model.ts'
import { checkContextUris, shown } from '../did/prism/rules.ts'
import { toPrismService, toServiceEndpoint, toServiceType } from '../did/prism/service.ts'
import type { DidContent } from '../did/prism/state.ts'
import { toPrismKey, type NewKey, type WantedKey } from './keys.ts'
import { checkWanted } from './template.ts'
import type { UpdateAction } from './update-model.ts'

/** The keys that an update adds, in its order. @throws {InvalidOperation} for one that may not be had. */
export function wantedKeys(actions: readonly UpdateAction[]): WantedKey[] {
  const wanted = actions.flatMap(toWantedKey)
  wanted.forEach(checkWanted)
  return wanted
}

function toWantedKey(action: UpdateAction): WantedKey[] {
  if (action.actionType === 'ADD_KEY') {
    const { id, purpose: usage, curve } = action.addKey
    return [{ id, usage, curve }]
  }
  if (action.actionType !== 'ADD_INTERNAL_KEY') return []
  const { id, purpose: usage } = action.addInternalKey
  return [{ id, usage, curve: 'secp256k1' }]
}

/** The method's actions, in the order of the tenant's; `keys` are the new ones, in that order too. */
export function toPrismActions(
  actions: readonly UpdateAction[],
  keys: readonly NewKey[],
  state: DidContent,
): PrismAction[] {
  const made = keys.values()
  return actions.map((action) => {
    switch (action.actionType) {
      case 'ADD_KEY':
      case 'ADD_INTERNAL_KEY':
        return { action: 'addKey', key: toPrismKey(made.next().value!) }
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

/** Two names for one action of the method, told apart here by what the key is. */
function removeKey(state: DidContent, id: string, isInternal: boolean): PrismAction {
  if (id === masterKeyId)
    throw new InvalidOperation(`the key id ${masterKeyId} is reserved for the master key`)
  const key = state.publicKeys.find((active) => active.id === id)
  if (key && isInternalKey(key) !== isInternal) {
    const wanted = isInternal ? 'REMOVE_KEY' : 'REMOVE_INTERNAL_KEY'
    throw new InvalidOperation(
      `key ${shown(id)} is ${isInternal ? 'not an' : 'an'} internal key: remove it with ${wanted}`,
    )
  }
  return { action: 'removeKey', id }
}

function isInternalKey({ usage }: PrismKey): boolean {
  return usage === 'vdr' || usage === 'master' || usage === 'revocation'
}
