/** The one form of a DID under which this mediator keeps and finds recipients and accounts. */
import { canonicalDid, didOf } from '../did/document.ts'

/**
 * Brings a DID, or the id of one of its keys, into the form in which two parties mean the same by it: no fragment, did:prism
 * without its long-form state, did:peer of numalgo 4 without its document.
 */
export function routeKey(didOrKeyId: string): string {
  return canonicalDid(didOf(didOrKeyId)).replace(/^(did:peer:4z[1-9A-HJ-NP-Za-km-z]+):z.*$/s, '$1')
}
