/**
 * Conformance of a JWT VC to W3C VC Data Model 1.1 (§4, §6.3.1) or 2.0 (§4). Verification alone is more
 * tolerant.
 */
import * as z from 'zod'
import type { VerifiableCredentialClaims } from '../../codecs/jwt-vc.ts'
import { parseClaims } from '../../codecs/jws.ts'
import { type Instant, NumericDate, toValidity } from '../../codecs/validity.ts'
import { malformed, Uri } from '../parts.ts'
import { Did } from '../../../did/document.ts'

const v1 = 'https://www.w3.org/2018/credentials/v1'
const v2 = 'https://www.w3.org/ns/credentials/v2'

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

/** A date in both `vc` and the JWT claims must be the same (§6.3.1). JWT dates have no fractions of a second. */
function assertSameDate(name: string, seconds: number | undefined, text: Instant | undefined): void {
  if (seconds === undefined || typeof text !== 'string') return
  if (Math.floor(seconds) !== Math.floor(Date.parse(text) / 1_000))
    throw malformed(`${name} differs from the date in vc`)
}
