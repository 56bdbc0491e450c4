/** The JWT of an SD-JWT, and its type. */
import { quote } from '../../../foundation/faults.ts'
import type { JsonObject } from '../../../foundation/json.ts'
import { isMediaType } from '../../../foundation/media-type.ts'
import { decodeJws, type Jws } from '../jws.ts'
import { VerificationError } from '../verification-error.ts'

/**
 * The `typ` of SD-JWT VCs: the media type, and its name in drafts before November 2024
 * (draft-ietf-oauth-sd-jwt-vc, "JOSE Header").
 */
export const sdJwtVcTypes = ['dc+sd-jwt', 'vc+sd-jwt']

/** Others that issuers of the Cloud Agent and of DIDComm write. They may also write none. */
const types = [...sdJwtVcTypes, 'sd+jwt', 'sd-jwt', 'JWT']

/**
 * Asserts that an SD-JWT is typed as a credential, as OpenID4VCI and OpenID4VP require. Otherwise another
 * token that the issuer signed could pass as one.
 *
 * @throws {VerificationError} `malformed`
 */
export function requireVcType({ header: { typ } }: { header: JsonObject }): void {
  if (isMediaType(typ, ...sdJwtVcTypes)) return
  const found = typ === undefined ? 'missing' : `${quote(typ)} instead of dc+sd-jwt`
  throw new VerificationError('malformed', `The typ in the header of the credential is ${found}`)
}

/** Decodes the JWT of an SD-JWT. @throws {VerificationError} as `decodeJws` */
export function readIssuerJwt(jwt: string): Jws {
  const jws = decodeJws(jwt)
  const { typ } = jws.header
  if (typ !== undefined && !isMediaType(typ, ...types))
    throw new VerificationError(
      'malformed',
      `The typ in the header, ${quote(typ)}, is none of ${types.join(', ')}`,
    )
  return jws
}
