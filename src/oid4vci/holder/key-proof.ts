/** Key proofs of the wallet, of the type `jwt` (VCI Appendix F.1). */
import { signJws } from '../../credentials/jws.ts'
import { toPublic } from '../../crypto/keys.ts'
import type { HolderKey } from '../../did-registrar/holder-key.ts'
import type { StoredOpenId4VciOffer } from '../../protocols/issue-credential/openid4vci.ts'
import { proofType } from '../proof.ts'

/** The proof for a nonce of the issuer, if it has an endpoint for nonces. */
export function createKeyProof(
  { privateJwk, kid }: HolderKey,
  { binding, credentialIssuer, clientId, grant }: StoredOpenId4VciOffer,
  nonce: string | undefined,
): string {
  const payload = {
    // It must be absent if the token request is anonymous.
    ...(grant === 'authorization_code' && { iss: clientId }),
    aud: credentialIssuer,
    iat: Math.floor(Date.now() / 1_000),
    ...(nonce !== undefined && { nonce }),
  }
  const key = binding === 'jwk' ? { jwk: toPublic(privateJwk) } : { kid }
  return signJws({ typ: proofType, ...key }, payload, privateJwk)
}
