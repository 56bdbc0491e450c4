/**
 * The state of a did:prism: its operations, one after the other, under the rules an indexer of the ledger applies
 * (PRISM method; wire.md 11.3, "Validity rules"). Pure: the same operations make the same state everywhere.
 */
import { verify } from '../../crypto/keys.ts'
import { fromDer } from '../../crypto/secp256k1.ts'
import { decodeOperation, decodeSigned, type SignedOperation } from './decode.ts'
import {
  type CreateOperation,
  type DeactivateOperation,
  InvalidOperation,
  type PrismKey,
  type PrismService,
  type UpdateOperation,
} from './model.ts'
import { operationHash } from './operations.ts'
import { checkContexts, checkKey, checkService, limits } from './rules.ts'
import { change } from './update.ts'

/**
 * What a DID says of itself: the keys and services that are active, in the order they came, and the ids of those that are not any more,
 * which can never be used again.
 */
export type DidContent = Readonly<{
  publicKeys: readonly PrismKey[]
  services: readonly PrismService[]
  contexts: readonly string[]
  retiredKeyIds: readonly string[]
  retiredServiceIds: readonly string[]
  deactivated: boolean
}>

/** What a DID is after its last operation. Hashes are hexadecimal, times ISO 8601 in UTC; a state that no ledger knows has none. */
export type DidState = DidContent &
  Readonly<{ suffix: string; lastOperationHash: string; createdAt?: string; updatedAt?: string }>

/**
 * The state after a signed operation that a ledger confirmed at `when`, on top of the state before it, which is not changed.
 *
 * @throws {InvalidOperation} when the operation breaks a rule; the message is the reason, and the DID stays as it was.
 */
export function apply(state: DidState | undefined, signedOperation: Uint8Array, when: Date): DidState {
  const signed = decodeSigned(signedOperation)
  const operation = decodeOperation(signed.operation)
  const at = when.toISOString()
  if (operation.operation === 'create') {
    if (state) throw new InvalidOperation('the DID exists already')
    const made = begin(operation, signed.operation)
    checkSignature(made, signed)
    return { ...made, createdAt: at, updatedAt: at }
  }
  if (!state || state.suffix !== operation.suffix) throw new InvalidOperation('the DID does not exist')
  if (state.deactivated) throw new InvalidOperation('the DID is deactivated, which is final')
  if (operation.previousHash !== state.lastOperationHash)
    throw new InvalidOperation("previous_operation_hash is not the hash of the DID's last operation")
  checkSignature(state, signed)
  return { ...next(state, operation), lastOperationHash: operationHash(signed.operation), updatedAt: at }
}

/**
 * The state that a create operation's bytes (`AtalaOperation`) make, without signature and ledger: that of an unpublished DID.
 *
 * @throws {InvalidOperation} when the bytes are no create operation or break a rule.
 */
export function createState(operation: Uint8Array): DidState {
  const decoded = decodeOperation(operation)
  if (decoded.operation !== 'create')
    throw new InvalidOperation(`a DID begins with a create operation, not ${decoded.operation}`)
  return begin(decoded, operation)
}

/**
 * The suffix of the DID that a signed operation is about.
 *
 * @throws {InvalidOperation} when the bytes are no signed operation on a DID.
 */
export function subjectOf(signedOperation: Uint8Array): string {
  const { operation } = decodeSigned(signedOperation)
  const decoded = decodeOperation(operation)
  if (decoded.operation === 'create') return operationHash(operation)
  // Not the whole DID, and not what the TypeScript SDK once wrote (wire.md pitfall 42).
  if (!/^[0-9a-f]{64}$/.test(decoded.suffix))
    throw new InvalidOperation('its id is not the 64 hexadecimal digits of a DID')
  return decoded.suffix
}

function begin(created: CreateOperation, operation: Uint8Array): DidState {
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

function next(state: DidState, operation: UpdateOperation | DeactivateOperation): DidState {
  return operation.operation === 'update' ? change(state, operation.actions) : end(state)
}

/** Takes every key and service away, for good. */
export function end<Content extends DidContent>(content: Content): Content {
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

function checkSignature(state: DidState, { signedWith, signature, operation }: SignedOperation): void {
  const key = state.publicKeys.find(({ id }) => id === signedWith)
  if (key?.usage !== 'master') throw new InvalidOperation('signed_with names no active master key')
  if (!verify(key.publicKey, operation, rawSignature(signature)))
    throw new InvalidOperation('the signature is not by the key that signed_with names')
}

/** The method says DER; the TypeScript SDK once wrote the 64 bytes r‖s. */
function rawSignature(signature: Uint8Array): Uint8Array {
  try {
    return fromDer(signature)
  } catch {
    return signature
  }
}
