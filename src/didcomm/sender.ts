/** The key a peer's message names as its own, taken from that peer's DID document and from nowhere else. */
import { isTemporary, Problem } from '../base/problem.ts'
import { reasonOf } from '../base/reason.ts'
import type { PublicJwk } from '../crypto/keys.ts'
import { type DidDocument, didOf, keysFor, type Purpose, type Resolve } from '../did/document.ts'
import { refuse } from './refuse.ts'

/**
 * Finds the key with exactly this id among those the DID before its fragment lists for a purpose.
 *
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` when the DID does not resolve, or has no such key; the
 * resolver's own error is the cause. One that says nothing about the DID, `error:ServiceUnavailable` among them, is thrown as it is.
 */
export async function getKey(resolve: Resolve, kid: string, purpose: Purpose): Promise<PublicJwk> {
  const did = didOf(kid)
  let document: DidDocument
  try {
    document = await resolve(did)
  } catch (error) {
    if (!(error instanceof Problem) || isTemporary(error)) throw error
    refuse(`${did} does not resolve, ${reasonOf(error)}`, error)
  }
  if (document.id !== did) refuse(`${did} resolves to the document of another DID`)
  const key = keysFor(document, purpose).find(({ id }) => id === kid)
  return key?.publicKeyJwk ?? refuse(`${kid} is not a key for ${purpose} of its DID`)
}
