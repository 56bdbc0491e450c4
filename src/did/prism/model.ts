/** The words of did:prism (PRISM method; wire.md 11.3): keys, services and the operations that make up a DID's history. */
import type { PublicJwk } from '../../crypto/keys.ts'

/**
 * What a key is for, by the DID document's words, with the number the protobuf and the HD path know it by.
 * `master`, `revocation` and `vdr` keys never show in a document.
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

/** The id of the hidden key that signs a DID's operations, as the real agent names it. */
export const masterKeyId = 'master0'

/** A key as an operation carries it; `id` is the fragment of its DID URL. */
export type PrismKey = { id: string; usage: Usage; publicKey: PublicJwk }

/** A service as an operation carries it: `type` and `serviceEndpoint` are the protobuf's texts, plain or JSON (`service.ts` reads and writes them). */
export type PrismService = { id: string; type: string; serviceEndpoint: string }

export type CreateOperation = {
  operation: 'create'
  publicKeys: PrismKey[]
  services: PrismService[]
  contexts: string[]
}

/** `suffix` is the 64 hexadecimal digits after `did:prism:`; `previousHash` the hash of the DID's last operation, in hexadecimal. */
export type UpdateOperation = {
  operation: 'update'
  suffix: string
  previousHash: string
  actions: UpdateAction[]
}
export type DeactivateOperation = { operation: 'deactivate'; suffix: string; previousHash: string }
export type Operation = CreateOperation | UpdateOperation | DeactivateOperation

/** One change of an update. An empty `type` or `serviceEndpoint` of `updateService` leaves it as it is; `patchContext` replaces the list. */
export type UpdateAction =
  | { action: 'addKey'; key: PrismKey }
  | { action: 'removeKey'; id: string }
  | { action: 'addService'; service: PrismService }
  | { action: 'removeService'; id: string }
  | { action: 'updateService'; id: string; type: string; serviceEndpoint: string }
  | { action: 'patchContext'; contexts: string[] }

/** An operation breaks a rule of the method: the ledger passes over it, for the reason that is the message. */
export class InvalidOperation extends Error {
  override name = 'InvalidOperation'
}
