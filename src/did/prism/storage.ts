/**
 * Storage entries of did:prism (PRISM DID Method, "Storage"): byte strings that belong to a DID. An entry's
 * id is the hash of the operation that creates it, and each further operation names the hash of the one
 * before. A key of the usage `vdr` signs them. They change nothing of the DID, whose own operations form
 * another chain.
 */
import { decodeOperation, decodeSigned } from './decode.ts'
import type { DeactivateEntryOperation, Operation, StorageOperation } from './model.ts'
import { operationHash } from './operations.ts'

/** An operation on an entry, with its own hash. `previousHash` is absent for the first one. */
export type EntryEvent = {
  hash: string
  previousHash?: string
  /** Absent for the operation that ends the entry. */
  content?: Uint8Array
}

export function isStorageOperation(operation: Operation): operation is StorageOperation {
  return operation.operation.endsWith('Entry')
}

/** The event of a signed operation. Undefined for an operation on the DID. @throws {InvalidOperation} */
export function readEntryEvent(signedOperation: Uint8Array): EntryEvent | undefined {
  const { operation: bytes } = decodeSigned(signedOperation)
  const operation = decodeOperation(bytes)
  if (!isStorageOperation(operation)) return undefined
  return {
    hash: operationHash(bytes),
    ...(operation.operation !== 'createEntry' && { previousHash: operation.previousHash }),
    ...(!isEnd(operation) && { content: operation.content }),
  }
}

function isEnd(operation: StorageOperation): operation is DeactivateEntryOperation {
  return operation.operation === 'deactivateEntry'
}
