/**
 * The interface of a ledger of did:prism operations (verifiable data registry). A DID's state is the result
 * of its confirmed operations.
 */
import { toHex } from '../../foundation/bytes.ts'
import { Problem } from '../../foundation/problem.ts'
import type { PublicJwk } from '../../foundation/crypto/keys.ts'
import { compressed } from '../../foundation/crypto/secp256k1.ts'
import { decodeOperation, decodeSigned } from '../prism/decode.ts'
import { InvalidOperation, type Operation } from '../prism/model.ts'
import { operationId } from '../prism/operations.ts'
import { type DidState, subjectOf } from '../prism/state.ts'
import { type EntryEvent, readEntryEvent } from '../prism/storage.ts'

/**
 * The status of an operation. `details` is the reason of a rejection, `transactionId` the transaction that
 * contains it. `confirmsAt` is the (expected) time of confirmation or rejection, if the ledger knows it.
 * Times are ISO 8601 in UTC.
 */
export type LedgerOperation = {
  operationId: string
  status: 'pending' | 'confirmed' | 'rejected'
  details?: string
  transactionId?: string
  submittedAt?: string
  confirmsAt?: string
}

/**
 * A ledger. Closed with `close` or `await using`. The functions of a remote ledger throw {Problem}
 * `error:ServiceUnavailable` while it cannot be reached or violates the protocol.
 */
export type Ledger = AsyncDisposable & {
  /** A path, or a URL without user name and password. For people. */
  readonly location: string
  /**
   * An operation that `getOperation` does not find may be pending: a NeoPRISM node has it once it is in a
   * block.
   */
  readonly hidesPending?: true
  /**
   * Submits the bytes of a `SignedAtalaOperation` on a DID or a storage entry. Submitting the same bytes
   * again has no effect and the same result. A ledger may check the method's rules now or later (see
   * `getOperation`).
   *
   * @throws {Problem} `BadRequest` when the bytes are not a signed operation on a DID, or the ledger refuses
   * it.
   */
  submit(signedOperation: Uint8Array): Promise<{ operationId: string; transactionId: string }>
  /** The status of an operation by its id (64 hexadecimal digits), if the ledger knows it. */
  getOperation(operationId: string): Promise<LedgerOperation | undefined>
  /**
   * The state of a DID by its suffix. `undefined` when it is not published. A remote ledger may leave out the
   * retired ids; it still refuses operations that reuse them.
   */
  getState(suffix: string): Promise<DidState | undefined>
  /**
   * The suffixes of the published DIDs whose create operation has this secp256k1 key as master key, in order
   * of publication. Used to restore the DIDs of a seed.
   */
  findByMasterKey(publicKey: PublicJwk): Promise<string[]>
  /**
   * A storage entry by its id (64 hexadecimal digits). Undefined for an unknown, unconfirmed or deactivated
   * one.
   */
  getEntry(entryId: string): Promise<StorageEntry | undefined>
  close(): Promise<void>
}

/** A storage entry of a DID. `lastHash` is the hash of the last confirmed operation on it. */
export type StorageEntry = {
  entryId: string
  lastHash: string
  content: Uint8Array
  /** The suffix of the DID. Absent if the ledger does not tell. */
  suffix?: string
}

/** `masterKeys`: of a create operation, compressed points on secp256k1 in hexadecimal, without duplicates. */
export type ReadOperation = {
  operationId: string
  /** The suffix of the DID. Absent for a further operation on a storage entry, which names the one before. */
  suffix?: string
  /** Present for an operation on a storage entry. */
  event?: EntryEvent
  masterKeys: string[]
  signedOperation: Uint8Array
}

/** Decodes a `SignedAtalaOperation`. @throws {Problem} 400 if it is not a signed operation on a DID */
export function readOperation(signedOperation: Uint8Array): ReadOperation {
  try {
    const suffix = subjectOf(signedOperation)
    const event = readEntryEvent(signedOperation)
    return {
      operationId: operationId(signedOperation),
      ...(suffix !== undefined && { suffix }),
      ...(event && { event }),
      masterKeys: masterKeysOf(decodeOperation(decodeSigned(signedOperation).operation)),
      signedOperation,
    }
  } catch (error) {
    if (error instanceof InvalidOperation)
      throw new Problem('BadRequest', `the signed operation is not accepted: ${error.message}`)
    throw error
  }
}

function masterKeysOf(operation: Operation): string[] {
  if (operation.operation !== 'create') return []
  const keys = operation.publicKeys.filter(
    ({ usage, publicKey }) => usage === 'master' && publicKey.crv === 'secp256k1',
  )
  return [...new Set(keys.map(({ publicKey }) => toHex(compressed(publicKey))))]
}
