/**
 * Presentations of SD-JWTs: the credential with its disclosures, and a key binding (RFC 9901 §7.3; OpenID4VP
 * 1.0 Annex B.3).
 */
import { holderOf } from '../../codecs/sd-jwt/confirmation.ts'
import { requireVcType } from '../../codecs/sd-jwt/issuer-jwt.ts'
import { checkKeyBinding, readKeyBinding } from '../../codecs/sd-jwt/key-binding.ts'
import { decodeSdJwt, type DecodedSdJwt } from '../../codecs/sd-jwt/sd-jwt.ts'
import { signedBy } from '../../codecs/verify.ts'
import { formatNames } from '../../../definitions/format-names.ts'
import type { Decoded } from '../format.ts'
import type { Presentation } from '../presentation.ts'
import type { PresentedCredential } from '../presented.ts'

/**
 * Reads a presentation. Verifies nothing but that the disclosures match the digests.
 *
 * @param requiresVcType SD-JWTs must be typed as credentials. Over DIDComm they need not, since Cloud Agents
 * do not type them.
 * @throws {VerificationError} if it cannot be read
 */
export function readSdJwt(text: string, requiresVcType: boolean): Presentation {
  const read = decodeSdJwt(text)
  if (requiresVcType) requireVcType(read.jws)
  const { keyBinding, processed } = read
  const decoded = toDecoded(read)
  const { issuerDid: issuer, types, claims, isBound, root, subjectDid: subject } = decoded
  const answer = keyBinding === undefined ? undefined : readKeyBinding(keyBinding).claims
  // Beside a certificate, an issuer may write any iss: a query is answered by the one that is verified.
  const named = 'iss' in processed && { iss: issuer }
  const format = formatNames.SDJWT.openid.id
  const queried = { format, types, claims: { ...root, ...named }, isBound: answer !== undefined }
  const credential = {
    format,
    issuer,
    types: [...types],
    claims: claims as PresentedCredential['claims'],
    ...(answer && { holder: holderOf(read) }),
    subject,
  }
  return {
    shown: [{ credential, queried, needsHolder: isBound, decoded }],
    answer,
    checkHolder: ({ resolve }) => checkKeyBinding(read, resolve),
  }
}

/** An SD-JWT in the form of all formats. */
export function toDecoded({ located, vct, keyBinding, jws, ...decoded }: DecodedSdJwt): Decoded {
  const types = vct === undefined ? [] : [vct]
  return {
    ...decoded,
    types,
    schemas: types,
    root: located,
    signed: signedBy(jws, decoded.issuerDid),
    isPresented: keyBinding !== undefined,
  }
}
