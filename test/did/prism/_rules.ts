/**
 * A second implementation of the rules of did:prism histories, with plain sets and lists, to compare with
 * `src/did/prism`. It does not read bytes: the test says which texts are malformed and which key has signed.
 */
import type { Operation, PrismKey, PrismService, UpdateAction } from '../../../src/did/prism/model.ts'

/** The state of a DID. Used ids stay reserved after their removal. */
export type Known = {
  suffix: string
  keys: PrismKey[]
  services: PrismService[]
  contexts: string[]
  spentKeyIds: Set<string>
  spentServiceIds: Set<string>
  last: string
  isOver: boolean
}

/**
 * An operation with its hash. `signedBy` is the x coordinate of the signing key, undefined for an invalid
 * signature.
 */
export type Fact = { operation: Operation; hash: string; signedWith: string; signedBy: string | undefined }

/** Texts that no operation may carry, for ids, types, endpoints and contexts alike. */
export const badTexts = new Set(['', 'a b#', 'é'.repeat(26), 'x'.repeat(301)])

/** The state after an operation, or `undefined` when it is invalid. */
export function judge(known: Known | undefined, fact: Fact): Known | undefined {
  const { operation, hash } = fact
  if (operation.operation === 'create') {
    const { publicKeys: keys, services, contexts } = operation
    const spentKeyIds = new Set(keys.map(({ id }) => id))
    const spentServiceIds = new Set(services.map(({ id }) => id))
    const made: Known = {
      suffix: hash,
      keys,
      services,
      contexts,
      spentKeyIds,
      spentServiceIds,
      last: hash,
      isOver: false,
    }
    const isUnique = spentKeyIds.size === keys.length && spentServiceIds.size === services.length
    const isSound = keys.every(isSoundKey) && services.every(isSoundService) && isSoundList(contexts)
    return !known && isUnique && isSound && isWithinLimits(made) && isSigned(made, fact) ? made : undefined
  }
  // Operations on storage entries are not of this model.
  if (operation.operation !== 'update' && operation.operation !== 'deactivate') return undefined
  if (!known || known.isOver || operation.suffix !== known.suffix || operation.previousHash !== known.last)
    return undefined
  if (!isSigned(known, fact)) return undefined
  if (operation.operation === 'deactivate')
    return { ...known, keys: [], services: [], last: hash, isOver: true }
  const next: Known = {
    ...known,
    keys: [...known.keys],
    services: [...known.services],
    spentKeyIds: new Set(known.spentKeyIds),
    spentServiceIds: new Set(known.spentServiceIds),
    last: hash,
  }
  const isDone =
    operation.actions.length > 0 &&
    operation.actions.every((action) => act(next, action)) &&
    isWithinLimits(next)
  return isDone ? next : undefined
}

/** Applies an action to the state. False if it is not possible. */
function act(known: Known, action: UpdateAction): boolean {
  switch (action.action) {
    case 'addKey':
      return (
        isSoundKey(action.key) && isNew(known.spentKeyIds, action.key.id) && known.keys.push(action.key) > 0
      )
    case 'addService':
      return (
        isSoundService(action.service) &&
        isNew(known.spentServiceIds, action.service.id) &&
        known.services.push(action.service) > 0
      )
    case 'removeKey':
      return isTaken(known.keys, action.id)
    case 'removeService':
      return isTaken(known.services, action.id)
    case 'updateService': {
      const index = known.services.findIndex(({ id }) => id === action.id)
      const { type, serviceEndpoint } = action
      if (index < 0 || (type === '' && serviceEndpoint === '')) return false
      const old = known.services[index]!
      known.services[index] = {
        id: old.id,
        type: type || old.type,
        serviceEndpoint: serviceEndpoint || old.serviceEndpoint,
      }
      return isSoundService(known.services[index])
    }
    case 'patchContext': {
      const isNothing = action.contexts.length + known.contexts.length === 0
      known.contexts = action.contexts
      return !isNothing && isSoundList(action.contexts)
    }
  }
}

function isNew(spent: Set<string>, id: string): boolean {
  const { size } = spent
  return spent.add(id).size > size
}

function isTaken(list: { id: string }[], id: string): boolean {
  const index = list.findIndex((entry) => entry.id === id)
  return index >= 0 && list.splice(index, 1).length > 0
}

function isSoundKey({ id, usage, publicKey }: PrismKey): boolean {
  return !badTexts.has(id) && (publicKey.crv === 'secp256k1' || (usage !== 'master' && usage !== 'vdr'))
}

function isSoundService(service: PrismService): boolean {
  return Object.values(service).every((text) => !badTexts.has(text))
}

function isSoundList(contexts: string[]): boolean {
  return (
    new Set(contexts).size === contexts.length &&
    contexts.every((context) => context !== '' && context.length <= 100)
  )
}

function isWithinLimits({ keys, services }: Known): boolean {
  return keys.length <= 50 && services.length <= 50 && keys.some(({ usage }) => usage === 'master')
}

function isSigned({ keys }: Known, { signedWith, signedBy }: Fact): boolean {
  return keys.some(
    ({ id, usage, publicKey }) => id === signedWith && usage === 'master' && publicKey.x === signedBy,
  )
}
