/**
 * Conformance of an SD-JWT VC to RFC 9901 §4 and draft-ietf-oauth-sd-jwt-vc §2.2. Verification alone is more
 * tolerant.
 */
import * as z from 'zod'
import type { JsonObject } from '../../../foundation/json.ts'
import { isMediaType } from '../../../foundation/media-type.ts'
import { parseClaims } from '../../codecs/jws.ts'
import { sdJwtVcTypes } from '../../codecs/sd-jwt/issuer-jwt.ts'
import type { SdJwtClaimsSet } from '../../codecs/sd-jwt/sd-jwt.ts'
import { malformed, Uri } from '../parts.ts'

/** A text with a colon must be a URI (RFC 7519 §2). */
const StringOrUri = z.union([z.string().regex(/^[^:]+$/), Uri])

const SdJwtVcHeader = z.looseObject({
  typ: z.custom((typ) => isMediaType(typ, ...sdJwtVcTypes), `is not ${sdJwtVcTypes.join(' or ')}`),
  // A verifier of a MAC could also create it.
  alg: z.string().regex(/^(?!none$|HS)/i, 'is not a digital signature'),
})

const SdJwtVcClaims = z.looseObject({
  vct: StringOrUri,
  'vct#integrity': z.string().optional(),
  sub: StringOrUri.optional(),
  cnf: z
    .looseObject({ jwk: z.looseObject({ d: z.never('is a private key').optional() }).optional() })
    .optional(),
  status: z
    .looseObject({ status_list: z.looseObject({ idx: z.int().nonnegative(), uri: Uri }).optional() })
    .optional(),
})

/**
 * Checks a decoded SD-JWT VC.
 *
 * @throws {VerificationError} `malformed`, naming the member or the contradiction.
 */
export function checkCompliance(
  header: JsonObject,
  { payload, validFrom = -Infinity, validUntil = Infinity }: SdJwtClaimsSet,
): void {
  parseClaims(SdJwtVcHeader, header)
  parseClaims(SdJwtVcClaims, payload)
  if (validUntil < validFrom) throw malformed('it ends before it begins')
}
