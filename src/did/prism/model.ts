/** The types of did:prism (PRISM DID Method): keys, services and operations. */
import type { PublicJwk } from '../../foundation/crypto/keys.ts'

/**
 * The usages of keys, with the names of DID documents and the numbers of the protobuf and the derivation
 * path. `master`, `revocation` and `vdr` keys are not part of documents.
 */
export const usages = {
  master: 1,
  assertionMethod: 2,
  keyAgreement: 3,
  authentication: 4,
  revocation: 5,
  capabilityInvocation: 6,
  capabilityDelegation: 7,
  vdr: 8,
} as const
export type Usage = keyof typeof usages
export const usageOf = new Map(
  Object.entries(usages).map(([usage, number]): [number, Usage] => [number, usage as Usage]),
)

/** The id of the master key, which signs a DID's operations. The same as in the Cloud Agent. */
export const masterKeyId = 'master0'

/** A key of an operation. `id` is the fragment of its DID URL. */
export type PrismKey = { id: string; usage: Usage; publicKey: PublicJwk }

/** A service of an operation. `type` and `serviceEndpoint` are plain text or JSON (see `service.ts`). */
export type PrismService = { id: string; type: string; serviceEndpoint: string }

export type CreateOperation = {
  operation: 'create'
  publicKeys: PrismKey[]
  services: PrismService[]
  contexts: string[]
}

/** `suffix` is the part after `did:prism:`. Hashes are hexadecimal. */
export type UpdateOperation = {
  operation: 'update'
  suffix: string
  previousHash: string
  actions: UpdateAction[]
}
export type DeactivateOperation = { operation: 'deactivate'; suffix: string; previousHash: string }

/**
 * Creates a storage entry of the DID `suffix`. The nonce makes the ids of entries with the same content
 * differ.
 */
export type CreateEntryOperation = {
  operation: 'createEntry'
  suffix: string
  nonce: Uint8Array
  content: Uint8Array
}
/** `previousHash` is the hash of the last operation on the entry. */
export type UpdateEntryOperation = { operation: 'updateEntry'; previousHash: string; content: Uint8Array }
export type DeactivateEntryOperation = { operation: 'deactivateEntry'; previousHash: string }
export type StorageOperation = CreateEntryOperation | UpdateEntryOperation | DeactivateEntryOperation

export type Operation = CreateOperation | UpdateOperation | DeactivateOperation | StorageOperation

/** In `updateService`, an empty text means unchanged. `patchContext` replaces the list. */
export type UpdateAction =
  | { action: 'addKey'; key: PrismKey }
  | { action: 'removeKey'; id: string }
  | { action: 'addService'; service: PrismService }
  | { action: 'removeService'; id: string }
  | { action: 'updateService'; id: string; type: string; serviceEndpoint: string }
  | { action: 'patchContext'; contexts: string[] }

/** An operation breaks a rule of the method. The message is the reason. */
export class InvalidOperation extends Error {
  override name = 'InvalidOperation'
}
