/**
 * The state of a did:prism: the result of its operations under the rules of the method (PRISM DID Method,
 * "Processing of DID Operations"). A pure function: the same operations have the same result everywhere.
 */
import { verify } from '../../foundation/crypto/keys.ts'
import { fromDer } from '../../foundation/crypto/secp256k1.ts'
import { decodeOperation, decodeSigned, type SignedOperation } from './decode.ts'
import {
  type CreateOperation,
  InvalidOperation,
  type PrismKey,
  type PrismService,
  type StorageOperation,
} from './model.ts'
import { operationHash } from './operations.ts'
import { isStorageOperation } from './storage.ts'
import { checkContexts, checkKey, checkService, limits } from './rules.ts'
import { applyActions } from './update.ts'

/** The active keys and services of a DID in order of addition, and removed ids, which cannot be reused. */
export type DidContent = Readonly<{
  publicKeys: readonly PrismKey[]
  services: readonly PrismService[]
  contexts: readonly string[]
  retiredKeyIds: readonly string[]
  retiredServiceIds: readonly string[]
  deactivated: boolean
}>

/** The state after the last operation. Times are ISO 8601 in UTC; an unpublished DID has none. */
export type DidState = DidContent &
  Readonly<{ suffix: string; lastOperationHash: string; createdAt?: string; updatedAt?: string }>

/** Applies a signed operation, confirmed at `when`, to a state. @throws {InvalidOperation} with the reason */
export function apply(state: DidState | undefined, signedOperation: Uint8Array, when: Date): DidState {
  const signed = decodeSigned(signedOperation)
  const operation = decodeOperation(signed.operation)
  if (isStorageOperation(operation)) return checkStorageOperation(state, operation, signed)
  const at = when.toISOString()
  if (operation.operation === 'create') {
    if (state) throw new InvalidOperation('the DID exists already')
    const created = fromCreate(operation, signed.operation)
    checkSignature(created, signed)
    return { ...created, createdAt: at, updatedAt: at }
  }
  if (!state || state.suffix !== operation.suffix) throw new InvalidOperation('the DID does not exist')
  if (state.deactivated) throw new InvalidOperation('the DID is deactivated, which is final')
  if (operation.previousHash !== state.lastOperationHash)
    throw new InvalidOperation("previous_operation_hash is not the hash of the DID's last operation")
  checkSignature(state, signed)
  const content =
    operation.operation === 'update' ? applyActions(state, operation.actions) : deactivate(state)
  return { ...content, lastOperationHash: operationHash(signed.operation), updatedAt: at }
}

/**
 * The state of an unpublished DID, from its create operation (`AtalaOperation`) without signature.
 *
 * @throws {InvalidOperation} when the bytes are not a create operation or break a rule.
 */
export function createState(operation: Uint8Array): DidState {
  const decoded = decodeOperation(operation)
  if (decoded.operation !== 'create')
    throw new InvalidOperation(`a DID begins with a create operation, not ${decoded.operation}`)
  return fromCreate(decoded, operation)
}

/**
 * The suffix of the DID of a signed operation. Undefined for one that names its entry alone.
 *
 * @throws {InvalidOperation} when the bytes are not a signed operation on a DID.
 */
export function subjectOf(signedOperation: Uint8Array): string | undefined {
  const { operation } = decodeSigned(signedOperation)
  const decoded = decodeOperation(operation)
  if (decoded.operation === 'create') return operationHash(operation)
  if (decoded.operation === 'updateEntry' || decoded.operation === 'deactivateEntry') return undefined
  // Old releases of the Identus TypeScript SDK wrote other ids.
  if (!/^[0-9a-f]{64}$/.test(decoded.suffix))
    throw new InvalidOperation('its id is not the 64 hexadecimal digits of a DID')
  return decoded.suffix
}

function fromCreate(created: CreateOperation, operation: Uint8Array): DidState {
  checkCreate(created)
  const { publicKeys, services, contexts } = created
  const suffix = operationHash(operation)
  return {
    suffix,
    publicKeys,
    services,
    contexts,
    retiredKeyIds: [],
    retiredServiceIds: [],
    lastOperationHash: suffix,
    deactivated: false,
  }
}

/** Removes every key and service. */
export function deactivate<Content extends DidContent>(content: Content): Content {
  const { publicKeys, services, retiredKeyIds, retiredServiceIds } = content
  return {
    ...content,
    publicKeys: [],
    services: [],
    retiredKeyIds: [...retiredKeyIds, ...publicKeys.map(({ id }) => id)],
    retiredServiceIds: [...retiredServiceIds, ...services.map(({ id }) => id)],
    deactivated: true,
  }
}

function checkCreate({ publicKeys, services, contexts }: CreateOperation): void {
  if (publicKeys.length > limits.keys)
    throw new InvalidOperation(`${publicKeys.length} keys are more than ${limits.keys}`)
  if (services.length > limits.services)
    throw new InvalidOperation(`${services.length} services are more than ${limits.services}`)
  if (!publicKeys.some(({ usage }) => usage === 'master'))
    throw new InvalidOperation('there is no master key')
  for (const [name, list] of [['key', publicKeys] as const, ['service', services] as const]) {
    if (new Set(list.map(({ id }) => id)).size !== list.length)
      throw new InvalidOperation(`a ${name} id is there twice`)
  }
  publicKeys.forEach(checkKey)
  services.forEach(checkService)
  checkContexts(contexts)
}

/**
 * Checks an operation on an entry of a DID, whose state it does not change. The ledger checks the entry's
 * chain.
 */
function checkStorageOperation(
  state: DidState | undefined,
  operation: StorageOperation,
  signed: SignedOperation,
): DidState {
  if (!state || (operation.operation === 'createEntry' && operation.suffix !== state.suffix))
    throw new InvalidOperation('the DID does not exist')
  if (state.deactivated) throw new InvalidOperation('the DID is deactivated, which is final')
  checkSignature(state, signed, 'vdr')
  return state
}

function checkSignature(
  state: DidState,
  { signedWith, signature, operation }: SignedOperation,
  usage: 'master' | 'vdr' = 'master',
): void {
  const key = state.publicKeys.find(({ id }) => id === signedWith)
  if (key?.usage !== usage) throw new InvalidOperation(`signed_with names no active ${usage} key`)
  if (!verify(key.publicKey, operation, rawSignature(signature)))
    throw new InvalidOperation('the signature is not by the key that signed_with names')
}

/** The raw signature. The method requires DER; old releases of the Identus TypeScript SDK wrote r‖s. */
function rawSignature(signature: Uint8Array): Uint8Array {
  try {
    return fromDer(signature)
  } catch {
    return signature
  }
}
