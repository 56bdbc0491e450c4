/**
 * The JWT VC (W3C VC Data Model 1.1 §6.3.1, wire.md 4.4): its claims as zod, and what is read out of them.
 *
 * Tolerated, because real issuers differ (wire.md 8.1): `issuer` as text, as object or absent; one schema or several; one status or several with
 * numbers or text as index; dates as seconds or as text; no `jti`, no `iat`.
 */
import { z } from 'zod'
import { canonicalDid, Did } from '../did/document.ts'
import { isJsonObject, type JsonObject } from '../base/json.ts'
import { decodeJws, decodePayload, type Jws, parseClaims } from './jws.ts'
import { Instant, NumericDate, toValidity, type Validity } from './validity.ts'
import { VerificationError } from './verification-error.ts'

/** The data model 1.1, which the real agent writes, and 2.0. */
const contexts = ['https://www.w3.org/2018/credentials/v1', 'https://www.w3.org/ns/credentials/v2']

/** Where to learn whether a credential still stands; the members beside `type` are those of StatusList2021 (wire.md 8.2). */
export const CredentialStatus = z.looseObject({
  id: z.string().optional(),
  type: z.string(),
  statusPurpose: z.string().optional(),
  statusListIndex: z.union([z.int().nonnegative(), z.string().regex(/^\d{1,15}$/)]).optional(),
  statusListCredential: z.string().optional(),
})
export type CredentialStatus = z.infer<typeof CredentialStatus>

const SchemaReference = z.looseObject({ id: z.string(), type: z.string().optional() })

// Taken as it is: zod's own objects lose a member called `__proto__`.
const Subject = z.custom<JsonObject & { id?: string }>(
  (value) => isJsonObject(value) && (value.id === undefined || typeof value.id === 'string'),
  'is not an object whose id, if any, is text',
)

export const VerifiableCredentialClaims = z.looseObject({
  iss: Did,
  sub: z.string().optional(),
  nbf: NumericDate.optional(),
  exp: NumericDate.optional(),
  vc: z.looseObject({
    '@context': oneOrMore(z.unknown(), contexts),
    type: oneOrMore(z.string(), ['VerifiableCredential']),
    credentialSubject: Subject,
    issuer: z.union([z.string(), z.looseObject({ id: z.string() })]).optional(),
    issuanceDate: Instant.optional(),
    expirationDate: Instant.optional(),
    validFrom: Instant.optional(),
    validUntil: Instant.optional(),
    credentialSchema: z.union([SchemaReference, z.array(SchemaReference)]).optional(),
    credentialStatus: z.union([CredentialStatus, z.array(CredentialStatus).max(10)]).optional(),
  }),
})
export type VerifiableCredentialClaims = z.infer<typeof VerifiableCredentialClaims>

/** What a credential says, which proves nothing by itself. */
export type DecodedCredential = Validity & {
  /** The compact JWT. */
  jwt: string
  /** The `iss` as written, long or short. */
  issuerDid: string
  /** The `sub` as written, or the id of the subject where there is no `sub`. */
  subjectDid?: string
  /** The `credentialSubject`, its `id` included. Names are own members, be they called `__proto__`. */
  claims: JsonObject
  /** The ids of `credentialSchema`. */
  schemas: string[]
  /** The entries of `credentialStatus`. */
  statuses: CredentialStatus[]
  payload: VerifiableCredentialClaims
}

/**
 * Reads a credential for display. Nothing is verified: neither signature nor dates nor status.
 *
 * @throws {VerificationError} `too-large`, `malformed`, `algorithm`, `critical-header`, `issuer-mismatch`, `subject-mismatch`
 */
export function decodeJwtVc(jwt: string): DecodedCredential {
  return readJwtVc(jwt).credential
}

/**
 * The same whatever the header says, for checks that are about the claims alone.
 *
 * @throws {VerificationError} `too-large`, `malformed`, `issuer-mismatch`, `subject-mismatch`
 */
export function decodeClaims(jwt: string): DecodedCredential {
  return toDecodedCredential(jwt, parseClaims(VerifiableCredentialClaims, decodePayload(jwt)))
}

/** The same with the token taken apart, for the verification to go on with. */
export function readJwtVc(jwt: string): { jws: Jws; credential: DecodedCredential } {
  const jws = decodeJws(jwt)
  return { jws, credential: toDecodedCredential(jwt, parseClaims(VerifiableCredentialClaims, jws.payload)) }
}

function toDecodedCredential(jwt: string, payload: VerifiableCredentialClaims): DecodedCredential {
  const { iss, sub, nbf, exp, vc } = payload
  checkIssuer(payload)
  checkSubject(payload)
  const subjectDid = sub ?? vc.credentialSubject.id
  return {
    jwt,
    issuerDid: iss,
    ...(subjectDid !== undefined && { subjectDid }),
    claims: vc.credentialSubject,
    schemas: [vc.credentialSchema ?? []].flat().map((schema) => schema.id),
    statuses: [vc.credentialStatus ?? []].flat(),
    ...toValidity([nbf, vc.issuanceDate, vc.validFrom], [exp, vc.expirationDate, vc.validUntil]),
    payload,
  }
}

/** The signature speaks for `iss`; a reader who shows `vc.issuer` must not be shown somebody else. */
function checkIssuer({ iss, vc }: VerifiableCredentialClaims): void {
  const named = typeof vc.issuer === 'object' ? vc.issuer.id : vc.issuer
  if (named !== undefined && canonicalDid(named) !== canonicalDid(iss)) {
    throw new VerificationError(
      'issuer-mismatch',
      `The credential names the issuer ${canonicalDid(named)}, its iss is ${canonicalDid(iss)}`,
    )
  }
}

/** `sub` is the encoding of `credentialSubject.id` (VC Data Model 1.1 §6.3.1), so the two are one or the token is inconsistent. */
function checkSubject({ sub, vc }: VerifiableCredentialClaims): void {
  const { id } = vc.credentialSubject
  if (sub !== undefined && id !== undefined && canonicalDid(sub) !== canonicalDid(id)) {
    throw new VerificationError(
      'subject-mismatch',
      `The credential names the subject ${canonicalDid(id)}, its sub is ${canonicalDid(sub)}`,
    )
  }
}

/** One value or a list, with one of `wanted` among them. */
export function oneOrMore<Item extends z.ZodType>(item: Item, wanted: unknown[]) {
  return z
    .union([item, z.array(item)])
    .refine(
      (value) => [value].flat().some((each) => wanted.includes(each)),
      `does not include ${wanted.join(' or ')}`,
    )
}
