/**
 * Conformance of credentials to their specifications: W3C VC Data Model 1.1 (§4, §6.3.1) or 2.0 (§4) for a
 * JWT VC, RFC 9901 §4 and draft-ietf-oauth-sd-jwt-vc §2.2 for an SD-JWT VC. Verification alone is more
 * tolerant.
 */
import * as z from 'zod'
import type { VerifiableCredentialClaims } from '../credentials/jwt-vc.ts'
import type { JsonObject } from '../base/json.ts'
import { isMediaType } from '../base/media-type.ts'
import { parseClaims } from '../credentials/jws.ts'
import { sdJwtVcTypes } from '../credentials/sd-jwt/issuer-jwt.ts'
import type { SdJwtClaimsSet } from '../credentials/sd-jwt/sd-jwt.ts'
import { type Instant, NumericDate, toValidity } from '../credentials/validity.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { Did } from '../did/document.ts'

const v1 = 'https://www.w3.org/2018/credentials/v1'
const v2 = 'https://www.w3.org/ns/credentials/v2'

const Uri = z.string().regex(/^[A-Za-z][A-Za-z0-9+.-]*:\S+$/, 'is not a URI')
const oneOrMore = <Item extends z.ZodType>(item: Item) => z.union([item, z.array(item).min(1)])
const Typed = z.looseObject({ id: Uri.optional(), type: oneOrMore(z.string().min(1)) })
const Time = z.iso.datetime({ offset: true })

const JwtVcClaims = z.looseObject({
  iss: Did,
  sub: Uri.optional(),
  jti: Uri.optional(),
  iat: NumericDate.optional(),
  vc: z.looseObject({
    // An ordered set that starts with the base context.
    '@context': z.tuple([z.enum([v1, v2])], z.union([Uri, z.looseObject({})])),
    id: Uri.optional(),
    type: oneOrMore(z.string().min(1)),
    issuer: z.union([Uri, z.looseObject({ id: Uri })]).optional(),
    credentialSubject: oneOrMore(z.looseObject({ id: Uri.optional() })),
    issuanceDate: Time.optional(),
    expirationDate: Time.optional(),
    validFrom: Time.optional(),
    validUntil: Time.optional(),
    credentialSchema: oneOrMore(Typed.required({ id: true })).optional(),
    credentialStatus: oneOrMore(Typed).optional(),
    refreshService: oneOrMore(Typed).optional(),
    termsOfUse: oneOrMore(Typed).optional(),
    evidence: oneOrMore(Typed).optional(),
  }),
})

/**
 * Checks a decoded JWT VC.
 *
 * @throws {VerificationError} `malformed`, naming the member or the contradiction.
 */
export function checkCompliance(payload: VerifiableCredentialClaims): void {
  const { jti, vc } = parseClaims(JwtVcClaims, payload)
  const { nbf, exp } = payload
  if (jti !== undefined && vc.id !== undefined && jti !== vc.id)
    throw malformed('jti is not the id of the credential')
  assertSameDate('nbf', nbf, vc.issuanceDate)
  assertSameDate('exp', exp, vc.expirationDate)
  if (vc['@context'][0] === v1 && nbf === undefined && vc.issuanceDate === undefined)
    throw malformed('it has no issuance date')
  const { validFrom = -Infinity, validUntil = Infinity } = toValidity(
    [nbf, vc.issuanceDate, vc.validFrom],
    [exp, vc.expirationDate, vc.validUntil],
  )
  if (validUntil < validFrom) throw malformed('it ends before it begins')
}

/**
 * A date in both `vc` and the JWT claims must be the same (§6.3.1). JWT dates have no fractions of a second.
 */
function assertSameDate(name: string, seconds: number | undefined, text: Instant | undefined): void {
  if (seconds === undefined || typeof text !== 'string') return
  if (Math.floor(seconds) !== Math.floor(Date.parse(text) / 1_000))
    throw malformed(`${name} differs from the date in vc`)
}

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
export function checkSdJwtCompliance(
  header: JsonObject,
  { payload, validFrom = -Infinity, validUntil = Infinity }: SdJwtClaimsSet,
): void {
  parseClaims(SdJwtVcHeader, header)
  parseClaims(SdJwtVcClaims, payload)
  if (validUntil < validFrom) throw malformed('it ends before it begins')
}

function malformed(reason: string): VerificationError {
  return new VerificationError('malformed', `The credential does not conform to its specification: ${reason}`)
}
