/** Presentations of SD-JWTs: the credential with its disclosures, and a key binding (RFC 9901 §7.3; OpenID4VP 1.0 Annex B.3). */
import { holderOf } from '../credentials/sd-jwt/confirmation.ts'
import { requireVcType } from '../credentials/sd-jwt/issuer-jwt.ts'
import { checkKeyBinding, readKeyBinding } from '../credentials/sd-jwt/key-binding.ts'
import { decodeSdJwt } from '../credentials/sd-jwt/sd-jwt.ts'
import { ofSdJwt } from '../dcql/credential.ts'
import type { Presentation } from './format.ts'
import type { PresentedCredential } from './model.ts'

/**
 * Reads a presentation. Verifies nothing but that the disclosures match the digests.
 *
 * @param requiresVcType SD-JWTs must be typed as credentials. Over DIDComm they need not, since Cloud Agents do not type them.
 * @throws {VerificationError} if it cannot be read
 */
export function readSdJwt(text: string, requiresVcType: boolean): Presentation {
  const decoded = decodeSdJwt(text)
  if (requiresVcType) requireVcType(decoded)
  const { keyBinding, issuerDid, jws, claims, disclosures, isBound } = decoded
  const answer = keyBinding === undefined ? undefined : readKeyBinding(keyBinding).claims
  // Beside a certificate, an issuer may write any iss: a query is answered by the one that is verified.
  const named = 'iss' in decoded.processed && { iss: issuerDid }
  const queried = ofSdJwt({ ...decoded, located: { ...decoded.located, ...named } }, answer !== undefined)
  const types = [...queried.types]
  const credential = {
    format: queried.format,
    issuer: issuerDid,
    types,
    claims: claims as PresentedCredential['claims'],
    ...(answer && { holder: holderOf(decoded) }),
    subject: decoded.subjectDid,
  }
  const { x5c } = jws.header
  const shown = { credential, queried, claims, disclosures, x5c, needsHolder: isBound, jws, decoded }
  return {
    shown: [{ ...shown, schemas: types, issuerDid }],
    answer,
    checkHolder: ({ resolve }) => checkKeyBinding(decoded, resolve),
  }
}
