/**
 * What the data model asks of a credential beyond what is needed to verify it (W3C VC Data Model 1.1 §4 and §6.3.1, or 2.0 §4): the issuers
 * that this agent puts up with when it verifies are not all of them to the letter.
 */
import { z } from 'zod'
import type { VerifiableCredentialClaims } from '../credentials/credential.ts'
import { parseClaims } from '../credentials/jws.ts'
import { type Instant, NumericDate, toValidity } from '../credentials/validity.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { Did } from '../did/document.ts'

const v1 = 'https://www.w3.org/2018/credentials/v1'
const v2 = 'https://www.w3.org/ns/credentials/v2'

/** A URI, as the data model and JWTs write them. */
export const Uri = z.string().regex(/^[A-Za-z][A-Za-z0-9+.-]*:\S+$/, 'is not a URI')
const oneOrMore = <Item extends z.ZodType>(item: Item) => z.union([item, z.array(item).min(1)])
const Typed = z.looseObject({ id: Uri.optional(), type: oneOrMore(z.string().min(1)) })
const Time = z.iso.datetime({ offset: true })

const Claims = z.looseObject({
  iss: Did,
  sub: Uri.optional(),
  jti: Uri.optional(),
  iat: NumericDate.optional(),
  vc: z.looseObject({
    // An ordered set, the base context first.
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

/** Checks the claims of a credential that could be read. @throws {VerificationError} `malformed`, naming the member or the contradiction. */
export function checkCompliance(payload: VerifiableCredentialClaims): void {
  const { jti, vc } = parseClaims(Claims, payload)
  const { nbf, exp } = payload
  if (jti !== undefined && vc.id !== undefined && jti !== vc.id)
    throw malformed('jti is not the id of the credential')
  agree('nbf', nbf, vc.issuanceDate)
  agree('exp', exp, vc.expirationDate)
  if (vc['@context'][0] === v1 && nbf === undefined && vc.issuanceDate === undefined)
    throw malformed('it has no date of issuance')
  const { validFrom = -Infinity, validUntil = Infinity } = toValidity(
    [nbf, vc.issuanceDate, vc.validFrom],
    [exp, vc.expirationDate, vc.validUntil],
  )
  if (validUntil < validFrom) throw malformed('it ends before it begins')
}

/** A date that is written twice is one date (§6.3.1); a JWT has no fractions of a second. */
function agree(name: string, seconds: number | undefined, text: Instant | undefined): void {
  if (seconds === undefined || typeof text !== 'string') return
  if (Math.floor(seconds) !== Math.floor(Date.parse(text) / 1_000))
    throw malformed(`${name} is not the date in vc`)
}

function malformed(reason: string): VerificationError {
  return new VerificationError('malformed', `The credential is not as the data model wants it: ${reason}`)
}
