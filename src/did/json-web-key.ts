/** What every document this agent builds shares: its JSON-LD contexts and its keys as `JsonWebKey2020` (JSON Web Signature 2020 suite). */
import type { PublicJwk } from '../crypto/keys.ts'
import type { DidDocument } from './document.ts'

export const didContext = 'https://www.w3.org/ns/did/v1'
export const jws2020Context = 'https://w3id.org/security/suites/jws-2020/v1'

/** A key of a DID as verification method, its id the absolute `<did>#<fragment>`. */
export function jsonWebKey(did: string, fragment: string, publicKeyJwk: PublicJwk) {
  return { id: `${did}#${fragment}`, type: 'JsonWebKey2020', controller: did, publicKeyJwk }
}

/**
 * The relationships of a key that may do all its curve can: sign for every purpose (`signing`), agree on secrets (`agreement`), or both.
 * Values are ids of verification methods.
 */
export function everyPurpose(ids: {
  signing?: string | undefined
  agreement?: string | undefined
}): Partial<DidDocument> {
  const { signing, agreement } = ids
  return {
    ...(signing && {
      authentication: [signing],
      assertionMethod: [signing],
      capabilityInvocation: [signing],
      capabilityDelegation: [signing],
    }),
    ...(agreement && { keyAgreement: [agreement] }),
  }
}
