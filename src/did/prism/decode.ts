/**
 * Decodes did:prism operations (PRISM DID Method, "Protocol Buffers"). Keys may be compressed or coordinates:
 * SDKs differ. Signed and hashed bytes are never re-encoded.
 */
import { fromBinary } from '@bufbuild/protobuf'
import { concat, toHex } from '../../foundation/bytes.ts'
import { okpFromBytes, type PublicJwk } from '../../foundation/crypto/keys.ts'
import { fromPublicBytes } from '../../foundation/crypto/secp256k1.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { InvalidOperation, type Operation, type PrismKey, type UpdateAction, usageOf } from './model.ts'
import {
  AtalaObjectSchema,
  AtalaOperationSchema,
  type PublicKey,
  SignedAtalaOperationSchema,
  type UpdateDIDAction,
} from './prism_pb.ts'
import { quote } from './rules.ts'

/** A signed operation: the id of the signing key, the signature, and the bytes of the operation. */
export type SignedOperation = { signedWith: string; signature: Uint8Array; operation: Uint8Array }

/** Fifty keys and services need less. A Cardano transaction holds a quarter of it. */
const maxBytes = 64_000

/** The signed operations of an `AtalaObject`, their form on Cardano. @throws {InvalidOperation} */
export function decodeObject(bytes: Uint8Array): Uint8Array[] {
  return reading(
    'AtalaObject',
    bytes,
    () => fromBinary(AtalaObjectSchema, bytes).blockContent?.operations ?? [],
  )
}

/** Decodes a `SignedAtalaOperation`, without checking the operation. @throws {InvalidOperation} */
export function decodeSigned(bytes: Uint8Array): SignedOperation {
  const { signedWith, signature, operation } = reading('SignedAtalaOperation', bytes, () =>
    fromBinary(SignedAtalaOperationSchema, bytes),
  )
  if (operation.length === 0) throw new InvalidOperation('the signed operation is empty')
  return { signedWith, signature, operation }
}

/**
 * Decodes an `AtalaOperation`. Its keys are checked to be points on their curves, other values are not
 * checked.
 *
 * @throws {InvalidOperation} when the bytes are not an operation on a DID or a storage entry.
 */
export function decodeOperation(bytes: Uint8Array): Operation {
  const { operation } = reading('AtalaOperation', bytes, () => fromBinary(AtalaOperationSchema, bytes))
  switch (operation.case) {
    case 'createDid': {
      const data = operation.value.didData
      if (!data) throw new InvalidOperation('did_data is missing')
      const services = data.services.map(({ id, type, serviceEndpoint }) => ({ id, type, serviceEndpoint }))
      return { operation: 'create', publicKeys: data.publicKeys.map(toKey), services, contexts: data.context }
    }
    case 'updateDid': {
      const { id, previousOperationHash, actions } = operation.value
      return {
        operation: 'update',
        suffix: id,
        previousHash: toHex(previousOperationHash),
        actions: actions.map(toAction),
      }
    }
    case 'deactivateDid':
      return {
        operation: 'deactivate',
        suffix: operation.value.id,
        previousHash: toHex(operation.value.previousOperationHash),
      }
    case 'createStorageEntry': {
      const { didPrismHash, nonce, data } = operation.value
      return {
        operation: 'createEntry',
        suffix: toHash('did_prism_hash', didPrismHash),
        nonce,
        content: toContent(data),
      }
    }
    case 'updateStorageEntry': {
      const { previousEventHash, data } = operation.value
      const previousHash = toHash('previous_event_hash', previousEventHash)
      return { operation: 'updateEntry', previousHash, content: toContent(data) }
    }
    case 'deactivateStorageEntry': {
      const previousHash = toHash('previous_event_hash', operation.value.previousEventHash)
      return { operation: 'deactivateEntry', previousHash }
    }
    default:
      throw new InvalidOperation('the operation is none of those on a DID and on a storage entry')
  }
}

function toHash(name: string, bytes: Uint8Array): string {
  if (bytes.length !== 32) throw new InvalidOperation(`${name} has ${bytes.length} bytes instead of 32`)
  return toHex(bytes)
}

/** The content of an entry. That of another type than bytes cannot be read. */
function toContent(data: { case: 'bytes'; value: Uint8Array } | { case: 'ipfs' | undefined }): Uint8Array {
  if (data.case !== 'bytes') throw new InvalidOperation('the data of the storage entry is not bytes')
  return data.value
}

function reading<T>(name: string, bytes: Uint8Array, read: () => T): T {
  if (bytes.length > maxBytes) throw new InvalidOperation(`${name} has more than ${maxBytes} bytes`)
  try {
    return read()
  } catch (error) {
    throw new InvalidOperation(`the bytes are not ${name}: ${reasonOf(error)}`, { cause: error })
  }
}

function toAction({ action }: UpdateDIDAction): UpdateAction {
  switch (action.case) {
    case 'addKey':
      if (!action.value.key) throw new InvalidOperation('add_key has no key')
      return { action: 'addKey', key: toKey(action.value.key) }
    case 'removeKey':
      return { action: 'removeKey', id: action.value.keyId }
    case 'addService': {
      if (!action.value.service) throw new InvalidOperation('add_service has no service')
      const { id, type, serviceEndpoint } = action.value.service
      return { action: 'addService', service: { id, type, serviceEndpoint } }
    }
    case 'removeService':
      return { action: 'removeService', id: action.value.serviceId }
    case 'updateService': {
      const { serviceId, type, serviceEndpoints } = action.value
      return { action: 'updateService', id: serviceId, type, serviceEndpoint: serviceEndpoints }
    }
    case 'patchContext':
      return { action: 'patchContext', contexts: action.value.context }
    default:
      throw new InvalidOperation('an action of the update is not supported')
  }
}

/** Decodes a key. @throws {InvalidOperation} when its usage is unknown or it is not a point on its curve. */
export function toKey({ id, usage, keyData }: PublicKey): PrismKey {
  const known = usageOf.get(usage)
  if (!known) throw new InvalidOperation(`key ${quote(id)} has no known usage`)
  try {
    return { id, usage: known, publicKey: toJwk(keyData) }
  } catch (error) {
    throw new InvalidOperation(`key ${quote(id)} cannot be read: ${reasonOf(error)}`, { cause: error })
  }
}

function toJwk(keyData: PublicKey['keyData']): PublicJwk {
  if (keyData.case === undefined) throw new TypeError('it has no data')
  const { curve } = keyData.value
  if (curve === 'Ed25519' || curve === 'X25519')
    return okpFromBytes(curve, keyData.case === 'ecKeyData' ? keyData.value.x : keyData.value.data)
  if (curve !== 'secp256k1')
    throw new TypeError(`its curve ${quote(curve)} is none of secp256k1, Ed25519 and X25519`)
  if (keyData.case === 'ecKeyData')
    return fromPublicBytes(concat(Uint8Array.of(4), keyData.value.x, keyData.value.y))
  if (keyData.value.data.length !== 33)
    throw new TypeError(`a compressed point has 33 bytes, not ${keyData.value.data.length}`)
  return fromPublicBytes(keyData.value.data)
}
