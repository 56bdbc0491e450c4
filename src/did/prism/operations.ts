/**
 * Encodes, signs and hashes did:prism operations (PRISM DID Method, "Protocol Buffers"). Keys are compressed,
 * as in the Cloud Agent.
 */
import { createHash } from 'node:crypto'
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf'
import { fromHex, toHex } from '../../foundation/bytes.ts'
import { okpBytes, type PrivateJwk, sign } from '../../foundation/crypto/keys.ts'
import { compressed, toDer } from '../../foundation/crypto/secp256k1.ts'
import { InvalidOperation, type Operation, type PrismKey, type UpdateAction, usages } from './model.ts'
import {
  AtalaOperationSchema,
  type PublicKeySchema,
  SignedAtalaOperationSchema,
  type UpdateDIDActionSchema,
} from './prism_pb.ts'

/**
 * Encodes an operation as `AtalaOperation`. The bytes of a create operation are part of the long form.
 *
 * @throws {InvalidOperation} when a string contains an unpaired surrogate, which UTF-8 cannot represent.
 */
export function encodeOperation(operation: Operation): Uint8Array {
  checkTexts(operation)
  return toBinary(AtalaOperationSchema, create(AtalaOperationSchema, { operation: toMessage(operation) }))
}

/**
 * Signs an operation: with a master key, or an operation on a storage entry with a VDR key. Returns a
 * `SignedAtalaOperation`.
 *
 * @throws {TypeError} when the key is not on secp256k1.
 */
export function signOperation(operation: Uint8Array, signedWith: string, key: PrivateJwk): Uint8Array {
  if (key.crv !== 'secp256k1') throw new TypeError(`operations are signed on secp256k1, not ${key.crv}`)
  const signature = toDer(sign(key, operation))
  return toBinary(
    SignedAtalaOperationSchema,
    create(SignedAtalaOperationSchema, { signedWith, signature, operation }),
  )
}

/**
 * The SHA-256 of an operation in hexadecimal. That of a create operation is the suffix of its DID, or the id
 * of its entry.
 */
export function operationHash(operation: Uint8Array): string {
  return createHash('sha256').update(operation).digest('hex')
}

/** The id of a signed operation on the ledger: the SHA-256 of the `SignedAtalaOperation` in hexadecimal. */
export function operationId(signedOperation: Uint8Array): string {
  return toHex(createHash('sha256').update(signedOperation).digest())
}

function checkTexts(value: unknown): void {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(checkTexts)
  if (typeof value === 'string' && /\p{Surrogate}/u.test(value))
    throw new InvalidOperation(
      `${JSON.stringify(value).slice(0, 100)} contains an unpaired surrogate, which cannot be encoded`,
    )
}

type OperationMessage = MessageInitShape<typeof AtalaOperationSchema>['operation'] & object
type ActionMessage = MessageInitShape<typeof UpdateDIDActionSchema>['action'] & object

function toMessage(operation: Operation): OperationMessage {
  switch (operation.operation) {
    case 'create': {
      const { publicKeys, services, contexts } = operation
      return {
        case: 'createDid',
        value: { didData: { publicKeys: publicKeys.map(toKeyMessage), services, context: contexts } },
      }
    }
    case 'update': {
      const { suffix, previousHash, actions } = operation
      const messages = actions.map((action) => ({ action: toActionMessage(action) }))
      return {
        case: 'updateDid',
        value: { previousOperationHash: fromHex(previousHash), id: suffix, actions: messages },
      }
    }
    case 'deactivate':
      return {
        case: 'deactivateDid',
        value: { previousOperationHash: fromHex(operation.previousHash), id: operation.suffix },
      }
    case 'createEntry': {
      const { suffix, nonce, content } = operation
      const data = { case: 'bytes', value: content } as const
      return { case: 'createStorageEntry', value: { didPrismHash: fromHex(suffix), nonce, data } }
    }
    case 'updateEntry': {
      const data = { case: 'bytes', value: operation.content } as const
      return {
        case: 'updateStorageEntry',
        value: { previousEventHash: fromHex(operation.previousHash), data },
      }
    }
    case 'deactivateEntry':
      return {
        case: 'deactivateStorageEntry',
        value: { previousEventHash: fromHex(operation.previousHash) },
      }
  }
}

function toActionMessage(action: UpdateAction): ActionMessage {
  switch (action.action) {
    case 'addKey':
      return { case: 'addKey', value: { key: toKeyMessage(action.key) } }
    case 'removeKey':
      return { case: 'removeKey', value: { keyId: action.id } }
    case 'addService':
      return { case: 'addService', value: { service: action.service } }
    case 'removeService':
      return { case: 'removeService', value: { serviceId: action.id } }
    case 'updateService':
      return {
        case: 'updateService',
        value: { serviceId: action.id, type: action.type, serviceEndpoints: action.serviceEndpoint },
      }
    case 'patchContext':
      return { case: 'patchContext', value: { context: action.contexts } }
  }
}

export function toKeyMessage({ id, usage, publicKey }: PrismKey): MessageInitShape<typeof PublicKeySchema> {
  const data = publicKey.crv === 'secp256k1' ? compressed(publicKey) : okpBytes(publicKey)
  return {
    id,
    usage: usages[usage],
    keyData: { case: 'compressedEcKeyData', value: { curve: publicKey.crv, data } },
  }
}
