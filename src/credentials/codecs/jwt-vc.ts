/**
 * Credentials as JWT (W3C VC Data Model 1.1 §6.3.1; VC-JOSE-COSE §3.1.1 for 2.0): issuing and decoding.
 *
 * Decoding tolerates the differences between issuers: `issuer` as text, object or absent; one schema or
 * several; one status or several, with the index as number or text; dates as seconds or text; no `jti`, no
 * `iat`.
 */
import * as z from 'zod'
import type { PrivateJwk } from '../../foundation/crypto/keys.ts'
import { canonicalDid, Did } from '../../did/document.ts'
import { isJsonObject, type JsonObject, withoutNulls } from '../../foundation/json.ts'
import { decodeJws, decodePayload, type Jws, parseClaims, signJws } from './jws.ts'
import { Instant, NumericDate, toValidity, type Validity } from './validity.ts'
import { VerificationError } from './verification-error.ts'

/** Base contexts of VC Data Model 1.1 and 2.0. */
const v2 = 'https://www.w3.org/ns/credentials/v2'
const contexts = ['https://www.w3.org/2018/credentials/v1', v2]

/** A type, or several (VC Data Model 2.0 §4.5): the first is the one that counts. */
const Type = z.union([
  z.string(),
  z
    .array(z.string())
    .min(1)
    .transform(([first]) => first!),
])

/** An index as text (Bitstring Status List §2.1). */
export const Digits = z.string().regex(/^\d{1,15}$/, 'must be a whole number in 1 to 15 digits')

/** An entry of `credentialStatus`. The optional members are those of StatusList2021 and Bitstring Status List. */
export const CredentialStatus = z.looseObject({
  id: z.string().optional(),
  type: Type,
  statusPurpose: z.string().optional(),
  statusListIndex: z.union([z.int().nonnegative(), Digits]).optional(),
  statusListCredential: z.string().optional(),
})
export type CredentialStatus = z.infer<typeof CredentialStatus>

const SchemaReference = z.looseObject({ id: z.string(), type: Type.optional() })

// A custom type, because zod's objects drop a member named `__proto__`.
const Subject = z.preprocess(
  (value, context) => {
    if (!Array.isArray(value)) return value
    if (value.length === 1) return value[0] as unknown
    context.addIssue(`has ${value.length} subjects: only credentials about one are supported here`)
    return z.NEVER
  },
  z.custom<JsonObject & { id?: string }>(
    (value) => isJsonObject(value) && (value.id === undefined || typeof value.id === 'string'),
    'is not an object whose id, if any, is text',
  ),
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

/** The input of `issueJwtVc`. Times are in seconds. */
export type CredentialContent = {
  /** For `iss` and `vc.issuer.id`, in long or short form. */
  issuerDid: string
  /** An `assertionMethod` key of the issuer. */
  issuerKey: PrivateJwk
  /** The bare id of that key, required if the issuer has several. */
  kid?: string | undefined
  /** The holder's DID, in the form of its request. */
  subjectDid: string
  /** `id` is replaced by the subject's DID. */
  claims: JsonObject
  /** Schema URLs. */
  schemas: string[]
  /** Seconds from `now` to `exp`. */
  validityPeriod?: number | undefined
  credentialStatus?: CredentialStatus | undefined
  now: number
}

/** Signs a credential with the members of the Cloud Agent. Returns the compact JWT. */
export function issueJwtVc(content: CredentialContent): string {
  const { issuerDid, issuerKey, kid, subjectDid, claims, schemas, validityPeriod, credentialStatus } = content
  const nbf = Math.floor(content.now)
  const payload = {
    iss: issuerDid,
    sub: subjectDid,
    nbf,
    ...(validityPeriod !== undefined && { exp: nbf + Math.floor(validityPeriod) }),
    vc: {
      '@context': ['https://www.w3.org/2018/credentials/v1'],
      type: ['VerifiableCredential'],
      credentialSubject: { ...claims, id: subjectDid },
      issuer: { id: issuerDid, type: 'Profile' },
      ...(schemas.length > 0 && {
        credentialSchema: schemas.map((id) => ({ id, type: 'CredentialSchema2022' })),
      }),
      ...(credentialStatus !== undefined && { credentialStatus }),
    },
  }
  return signJws({ typ: 'JWT', kid }, payload, issuerKey)
}

/** Claims of a JWT that are not members of the credential. */
const jwtClaims: ReadonlySet<string> = new Set(['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'cnf'])

/**
 * The payload of a credential of data model 2.0, which is the credential itself, in the form of 1.1: with
 * `iss`, and the credential in `vc`.
 */
export function toClaimsWithVc(payload: JsonObject): JsonObject {
  if (payload['vc'] !== undefined || ![payload['@context']].flat().includes(v2)) return payload
  const { issuer } = payload
  const vc = Object.fromEntries(Object.entries(payload).filter(([name]) => !jwtClaims.has(name)))
  return { ...payload, iss: payload['iss'] ?? (isJsonObject(issuer) ? issuer['id'] : issuer), vc }
}

function parseCredential(payload: JsonObject): VerifiableCredentialClaims {
  const claims = toClaimsWithVc(payload)
  // In JSON-LD, a member that is null is absent.
  const vc = isJsonObject(claims['vc']) ? withoutNulls(claims['vc']) : claims['vc']
  return parseClaims(VerifiableCredentialClaims, { ...claims, vc })
}

/** A decoded credential. Nothing in it is verified. */
export type DecodedCredential = Validity & {
  /** Compact serialization. */
  jwt: string
  /** `iss`, in long or short form. */
  issuerDid: string
  /** `sub`, or else `credentialSubject.id`. */
  subjectDid?: string
  /** `credentialSubject` with its `id`. */
  claims: JsonObject
  /** Ids of `credentialSchema`. */
  schemas: string[]
  /** Entries of `credentialStatus`. */
  statuses: CredentialStatus[]
  payload: VerifiableCredentialClaims
}

/**
 * Decodes the claims only, whatever the header is.
 *
 * @throws {VerificationError} `too-large`, `malformed`, `issuer-mismatch`, `subject-mismatch`
 */
export function decodeClaims(jwt: string): DecodedCredential {
  return toDecodedCredential(jwt, parseCredential(decodePayload(jwt)))
}

/**
 * Decodes a credential and its JWS. Verifies neither signature nor dates nor status.
 *
 * @throws {VerificationError} `too-large`, `malformed`, `algorithm`, `critical-header`, `issuer-mismatch`,
 * `subject-mismatch`
 */
export function readJwtVc(jwt: string): { jws: Jws; credential: DecodedCredential } {
  const jws = decodeJws(jwt)
  return { jws, credential: toDecodedCredential(jwt, parseCredential(jws.payload)) }
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

/** `vc.issuer` must be the signer in `iss`. */
function checkIssuer({ iss, vc }: VerifiableCredentialClaims): void {
  const named = typeof vc.issuer === 'object' ? vc.issuer.id : vc.issuer
  if (named !== undefined && canonicalDid(named) !== canonicalDid(iss)) {
    throw new VerificationError(
      'issuer-mismatch',
      `The credential names the issuer ${canonicalDid(named)}, its iss is ${canonicalDid(iss)}`,
    )
  }
}

/** `sub` encodes `credentialSubject.id` (VC Data Model 1.1 §6.3.1), so they must be equal. */
function checkSubject({ sub, vc }: VerifiableCredentialClaims): void {
  const { id } = vc.credentialSubject
  if (sub !== undefined && id !== undefined && canonicalDid(sub) !== canonicalDid(id)) {
    throw new VerificationError(
      'subject-mismatch',
      `The credential names the subject ${canonicalDid(id)}, its sub is ${canonicalDid(sub)}`,
    )
  }
}

/** One value or a list, which must include one of `required`. */
export function oneOrMore<Item extends z.ZodType>(item: Item, required: unknown[]) {
  return z
    .union([item, z.array(item)])
    .refine(
      (value) => [value].flat().some((each) => required.includes(each)),
      `does not include ${required.join(' or ')}`,
    )
}
