/**
 * Credentials as SD-JWT (RFC 9901; wire.md 4.5, 5.3): issued with every claim hidden, and read strictly.
 *
 * The format is our own code because the libraries for it neither write disclosures as the real agent can read them nor refuse those that
 * belong to no digest; they are peers in the tests.
 */
import { z } from 'zod'
import { toPublic, type PrivateJwk, type PublicJwk } from '../../crypto/keys.ts'
import { Did, Jwk, type Resolve, type VerificationKey } from '../../did/document.ts'
import { CredentialStatus } from '../credential.ts'
import { checkSignature } from '../did-signature.ts'
import { type JsonObject, setMember } from '../../base/json.ts'
import { decodeJws, decodePayload, maxTokenLength, parseClaims, signJws, type Jws } from '../jws.ts'
import { establishStatus, type CredentialChecks } from '../jwt-vc.ts'
import { checkValidity, NumericDate, toValidity, type Validity } from '../validity.ts'
import { VerificationError } from '../verification-error.ts'
import { pack } from './pack.ts'
import { unpack, type Placed } from './unpack.ts'

/** Claims that the token itself needs (RFC 9901 §4.1, SD-JWT VC §3.2.2): they are never hidden, and a subject has none of these names. */
export const registeredClaims = [
  'iss',
  'sub',
  'iat',
  'nbf',
  'exp',
  'cnf',
  'vct',
  'status',
  'credentialStatus',
  '_sd',
  '_sd_alg',
  '...',
] as const

const registered: ReadonlySet<string> = new Set(registeredClaims)

/** The class of all credentials in the W3C's vocabulary: the type (`vct`, which there must be) of one that has no schema to tell it by. */
export const anyCredential = 'https://www.w3.org/2018/credentials#VerifiableCredential'

/** Media types of an SD-JWT credential, old and new, and what else issuers write. */
const types = ['vc+sd-jwt', 'dc+sd-jwt', 'sd+jwt', 'sd-jwt', 'JWT']

const SdJwtClaims = z.looseObject({
  iss: Did,
  sub: z.string().optional(),
  iat: NumericDate.optional(),
  nbf: NumericDate.optional(),
  exp: NumericDate.optional(),
  vct: z.string().optional(),
  cnf: z.looseObject({ jwk: Jwk }).optional(),
  status: z.unknown().optional(),
  credentialStatus: z.union([CredentialStatus, z.array(CredentialStatus).max(10)]).optional(),
})

/** What a credential is made of; times are epoch seconds. */
export type SdJwtContent = {
  /** Goes into `iss` as given, long or short. */
  issuerDid: string
  /** A key with the purpose `assertionMethod` in the issuer's document. */
  issuerKey: PrivateJwk
  /** A DID URL: wallets refuse a bare id (wire.md 4.5). */
  kid?: string | undefined
  subjectDid: string
  /** None of `registeredClaims`. */
  claims: JsonObject
  /** The type of the credential (`vct`): a schema's URL, or a name. */
  vct: string
  expiresAt: number
  /** The holder's key, which a presentation has to be signed with; without it whoever has the credential may show it. */
  holderKey?: PublicJwk | undefined
  credentialStatus?: CredentialStatus | undefined
  now: number
}

/** Signs a credential. Returns it in compact form with all its disclosures: `<JWT>~<disclosure>~…~`. */
export function issueSdJwt(content: SdJwtContent): string {
  const { issuerDid, issuerKey, kid, subjectDid, claims, vct, expiresAt, holderKey, credentialStatus, now } =
    content
  const { payload, disclosures } = pack(claims)
  const token = {
    ...payload,
    _sd_alg: 'sha-256',
    iss: issuerDid,
    sub: subjectDid,
    iat: Math.floor(now),
    exp: Math.floor(expiresAt),
    vct,
    ...(holderKey && { cnf: { jwk: toPublic(holderKey) } }),
    ...(credentialStatus !== undefined && { credentialStatus }),
  }
  return [signJws({ typ: 'vc+sd-jwt', kid }, token, issuerKey), ...disclosures, ''].join('~')
}

/** True for what can only be an SD-JWT: no other compact token has a `~` in it. */
export function isSdJwt(text: string): boolean {
  return text.includes('~')
}

/** What a credential says, which proves nothing by itself. */
export type SdJwtStatement = Validity & {
  /** The issuer's JWT and the disclosures, without key binding: `<JWT>~<disclosure>~…~`. */
  sdJwt: string
  /** The key-binding JWT at the end. */
  keyBinding?: string
  issuerDid: string
  subjectDid?: string
  /** The claims that are disclosed, without the registered ones. */
  claims: JsonObject
  /** All that is disclosed, the registered claims among it: the "Processed SD-JWT Payload" (RFC 9901 §7.1). */
  processed: JsonObject
  vct?: string
  holderKey?: PublicJwk
  statuses: CredentialStatus[]
  /** The disclosures in their places. */
  placed: Placed[]
  /** What the issuer signed, digests and all. */
  payload: JsonObject
}

/** The same with the issuer's JWT taken apart. */
export type DecodedSdJwt = SdJwtStatement & { jws: Jws }

/**
 * Reads a credential or a presentation for display. Nothing is verified but that the disclosures belong to the token.
 *
 * @throws {VerificationError} `too-large`, `malformed`, `algorithm`, `critical-header`
 */
export function decodeSdJwt(text: string): DecodedSdJwt {
  const parts = splitSdJwt(text)
  const jws = readIssuersJwt(parts.jwt)
  return Object.assign(read(text, parts, jws.payload), { jws })
}

/** The same whatever the header says, for checks that are about the claims alone. @throws {VerificationError} `too-large`, `malformed` */
export function decodeSdJwtClaims(text: string): SdJwtStatement {
  const parts = splitSdJwt(text)
  return read(text, parts, decodePayload(parts.jwt))
}

/** The JWT that the issuer signed, with a header that is understood here. @throws {VerificationError} as `decodeSdJwt` */
export function decodeIssuersJwt(text: string): Jws {
  return readIssuersJwt(splitSdJwt(text).jwt)
}

function readIssuersJwt(jwt: string): Jws {
  const jws = decodeJws(jwt)
  const { typ } = jws.header
  if (typ !== undefined && !types.includes(typ))
    throw new VerificationError('malformed', `The type ${JSON.stringify(typ)} is none of ${types.join(', ')}`)
  return jws
}

type SdJwtParts = { jwt: string; disclosures: string[]; keyBinding?: string }

/** The parts of an SD-JWT as they are written. @throws {VerificationError} `too-large`, `malformed` */
export function splitSdJwt(text: string): SdJwtParts {
  if (text.length > maxTokenLength)
    throw new VerificationError(
      'too-large',
      `A token of ${text.length} characters; ${maxTokenLength} are read`,
    )
  const [jwt, ...disclosures] = text.split('~')
  const keyBinding = disclosures.pop()
  if (keyBinding === undefined)
    throw new VerificationError('malformed', 'An SD-JWT has a ~ after its JWT and after each disclosure')
  return { jwt: jwt!, disclosures, ...(keyBinding !== '' && { keyBinding }) }
}

function read(text: string, { disclosures, keyBinding }: SdJwtParts, payload: JsonObject): SdJwtStatement {
  // What the token needs must be signed, and be seen by whoever reads no disclosures.
  const { iss, sub, iat, nbf, exp, vct, cnf, status, credentialStatus } = parseClaims(SdJwtClaims, payload)
  const { claims: processed, placed } = unpack(payload, disclosures)
  const hidden = placed.find(({ path }) => path.length === 1 && registered.has(path[0]!))
  if (hidden) throw new VerificationError('malformed', `The claim ${hidden.path[0]} must not be hidden`)
  return {
    sdJwt: text.slice(0, text.lastIndexOf('~') + 1),
    ...(keyBinding !== undefined && { keyBinding }),
    issuerDid: iss,
    ...(sub !== undefined && { subjectDid: sub }),
    claims: withoutRegistered(processed),
    processed,
    ...(vct !== undefined && { vct }),
    ...(cnf && { holderKey: cnf.jwk as PublicJwk }),
    // A status of another kind is one that nobody here can establish.
    statuses: [...[credentialStatus ?? []].flat(), ...(status === undefined ? [] : [{ type: 'status' }])],
    placed,
    payload,
    ...toValidity([iat, nbf], [exp]),
  }
}

function withoutRegistered(processed: JsonObject): JsonObject {
  const claims: JsonObject = {}
  for (const name of Object.keys(processed))
    if (!registered.has(name)) setMember(claims, name, processed[name])
  return claims
}

/** A credential whose checks have all passed; `key` is the issuer's key that signed. */
export type VerifiedSdJwt = DecodedSdJwt & { key: VerificationKey | undefined }

/**
 * Verifies a credential: shape, disclosures, dates at `now` (epoch seconds), signature by an `assertionMethod` key of `iss`, status.
 *
 * @throws {VerificationError} for the first check that fails
 * @throws {Problem} `error:ServiceUnavailable` when a check cannot be made for now
 */
export async function verifySdJwt(text: string, checks: SdJwtChecks): Promise<VerifiedSdJwt> {
  return verifyDecodedSdJwt(decodeSdJwt(text), checks)
}

/** The rest of `verifySdJwt` for a credential that is read already. */
export async function verifyDecodedSdJwt(
  credential: DecodedSdJwt,
  {
    resolve,
    now,
    leewaySeconds,
    verifyDates = true,
    verifySignature = true,
    verifyStatus = true,
    checkStatus,
  }: SdJwtChecks,
): Promise<VerifiedSdJwt> {
  if (verifyDates) checkValidity(credential, now, leewaySeconds)
  const key = verifySignature
    ? await checkSignature(credential.jws, { did: credential.issuerDid, role: 'issuer' }, resolve)
    : undefined
  if (verifyStatus)
    for (const status of credential.statuses) await establishStatus(status, credential, checkStatus)
  // Not by a spread, after which V8 takes a microsecond for another member.
  return Object.assign({}, credential, { key })
}

export type SdJwtChecks = CredentialChecks & { resolve: Resolve; now: number }
