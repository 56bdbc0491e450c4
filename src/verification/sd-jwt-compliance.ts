/**
 * What the standards ask of an SD-JWT VC beyond what is needed to verify it (RFC 9901 §4, draft-ietf-oauth-sd-jwt-vc §2.2): not all of those that
 * this agent puts up with when it verifies are to the letter.
 */
import { z } from 'zod'
import type { JsonObject } from '../credentials/json.ts'
import { parseClaims } from '../credentials/jws.ts'
import type { SdJwtStatement } from '../credentials/sd-jwt/sd-jwt.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { Uri } from './compliance.ts'

/** What has a colon in it is a URI (RFC 7519 §2). */
const StringOrUri = z.union([z.string().regex(/^[^:]+$/), Uri])

const Header = z.looseObject({
  typ: z.enum(['dc+sd-jwt', 'vc+sd-jwt']),
  // Whoever could check a MAC could make one.
  alg: z.string().regex(/^(?!none$|HS)/i, 'is no digital signature'),
})

const Claims = z.looseObject({
  vct: StringOrUri,
  'vct#integrity': z.string().optional(),
  sub: StringOrUri.optional(),
  cnf: z.looseObject({ jwk: z.looseObject({ d: z.never('is a private key').optional() }) }).optional(),
  status: z
    .looseObject({ status_list: z.looseObject({ idx: z.int().nonnegative(), uri: Uri }).optional() })
    .optional(),
})

/** Checks a credential that could be read. @throws {VerificationError} `malformed`, naming the member or the contradiction. */
export function checkSdJwtCompliance(
  header: JsonObject,
  { payload, placed, validFrom = -Infinity, validUntil = Infinity }: SdJwtStatement,
): void {
  parseClaims(Header, header)
  parseClaims(Claims, payload)
  if (placed.some(({ path }) => path.length === 1 && path[0] === 'vct#integrity'))
    throw malformed('vct#integrity is hidden')
  if (validUntil < validFrom) throw malformed('it ends before it begins')
}

function malformed(reason: string): VerificationError {
  return new VerificationError('malformed', `The SD-JWT is not as its standard wants it: ${reason}`)
}
