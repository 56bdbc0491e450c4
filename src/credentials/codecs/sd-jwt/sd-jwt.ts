/**
 * Credentials as SD-JWT VC (RFC 9901, draft-ietf-oauth-sd-jwt-vc): issuing with every claim selectively
 * disclosable, and decoding.
 *
 * No library is used: those available write disclosures that the Cloud Agent cannot parse, and accept
 * disclosures that match no digest. The tests use them as peers.
 */
import * as z from 'zod'
import { toPublic, type PrivateJwk, type PublicJwk } from '../../../foundation/crypto/keys.ts'
import { type JsonObject, setMember } from '../../../foundation/json.ts'
import { formatNames } from '../../../definitions/format-names.ts'
import { IssuerId } from '../issuer-signature.ts'
import { decodeHeader, decodePayload, maxTokenLength, parseClaims, signJws, type Jws } from '../jws.ts'
import { CredentialStatus } from '../jwt-vc.ts'
import { toStatusEntry } from '../token-status-list.ts'
import { NumericDate, toValidity, type Validity } from '../validity.ts'
import { VerificationError } from '../verification-error.ts'
import { issuerOf } from '../x509-issuer.ts'
import { type Confirmation, readConfirmation } from './confirmation.ts'
import { pack } from './disclosure.ts'
import { readIssuerJwt } from './issuer-jwt.ts'
import { unpack, type LocatedDisclosure } from './unpack.ts'

/**
 * Claims that are always disclosed (RFC 9901 §4.1, SD-JWT VC §3.2.2). Subjects have no claims with these
 * names.
 */
export const registeredClaims = [
  'iss',
  'sub',
  'iat',
  'nbf',
  'exp',
  'cnf',
  'vct',
  'vct#integrity',
  'aka_vcts',
  'status',
  'credentialStatus',
  '_sd',
  '_sd_alg',
  '...',
] as const

const registered: ReadonlySet<string> = new Set(registeredClaims)

/** The `vct` of a credential without a schema. */
export const anyCredential: string = formatNames.SDJWT.openid.anyType

const SdJwtClaims = z.looseObject({
  iss: IssuerId.optional(),
  sub: z.string().optional(),
  iat: NumericDate.optional(),
  nbf: NumericDate.optional(),
  exp: NumericDate.optional(),
  vct: z.string().optional(),
  cnf: z.unknown().optional(),
  status: z.unknown().optional(),
  credentialStatus: z.union([CredentialStatus, z.array(CredentialStatus).max(10)]).optional(),
})

/** The input of `issueSdJwt`. Times are in epoch seconds. */
export type SdJwtContent = {
  /** For `iss`, in long or short form. */
  issuerDid: string
  /** An `assertionMethod` key of the issuer. */
  issuerKey: PrivateJwk
  /** A DID URL. Wallets refuse a bare key id. */
  kid?: string | undefined
  subjectDid: string
  /** Contains none of `registeredClaims`. */
  claims: JsonObject
  /** A schema URL, or a name. */
  vct: string
  expiresAt: number
  /** The key for key binding. Without it, anyone who has the credential can present it. */
  holderKey?: PublicJwk | undefined
  credentialStatus?: CredentialStatus | undefined
  now: number
}

/** Signs a credential. Returns it with all disclosures: `<JWT>~<disclosure>~…~`. */
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

/** The decoded claims of a credential or presentation. Nothing in it is verified. */
export type SdJwtClaimsSet = Validity &
  Confirmation & {
    /** Without key binding: `<JWT>~<disclosure>~…~`. */
    sdJwt: string
    /** The key-binding JWT. */
    keyBinding?: string
    /** A DID, or the name in the certificate of an issuer without a DID. */
    issuerDid: string
    /** The certificates in the header, unchecked. */
    x5c?: unknown
    subjectDid?: string
    /** The disclosed claims, without registered claims. */
    claims: JsonObject
    /** The "Processed SD-JWT Payload" (RFC 9901 §7.1): disclosed and registered claims. */
    processed: JsonObject
    /** `processed`, with holes in arrays for the elements that are not disclosed (`Unpacked`). */
    located: JsonObject
    vct?: string
    /** A presentation needs a key binding. */
    isBound: boolean
    statuses: CredentialStatus[]
    disclosures: LocatedDisclosure[]
    /** The payload of the issuer's JWT, with digests. */
    payload: JsonObject
  }

/** With the decoded JWT of the issuer. */
export type DecodedSdJwt = SdJwtClaimsSet & { jws: Jws }

/**
 * Decodes a credential or a presentation. Verifies only that the disclosures match the digests.
 *
 * @throws {VerificationError} `too-large`, `malformed`, `algorithm`, `critical-header`
 */
export function decodeSdJwt(text: string): DecodedSdJwt {
  const parts = splitSdJwt(text)
  const jws = readIssuerJwt(parts.jwt)
  return Object.assign(toClaimsSet(text, parts, jws.payload, jws.header.x5c), { jws })
}

/** Decodes the claims only, whatever the header is. @throws {VerificationError} `too-large`, `malformed` */
export function decodeSdJwtClaims(text: string): SdJwtClaimsSet {
  const parts = splitSdJwt(text)
  const { x5c } = decodeHeader(parts.jwt)
  return toClaimsSet(text, parts, decodePayload(parts.jwt), x5c)
}

/** Decodes the issuer's JWT. @throws {VerificationError} as `decodeSdJwt` */
export function decodeIssuerJwt(text: string): Jws {
  return readIssuerJwt(splitSdJwt(text).jwt)
}

type SdJwtParts = { jwt: string; disclosures: string[]; keyBinding?: string }

/** Splits an SD-JWT at `~`. @throws {VerificationError} `too-large`, `malformed` */
export function splitSdJwt(text: string): SdJwtParts {
  if (text.length > maxTokenLength)
    throw new VerificationError(
      'too-large',
      `The token has ${text.length} characters; the limit is ${maxTokenLength}`,
    )
  const [jwt, ...disclosures] = text.split('~')
  const keyBinding = disclosures.pop()
  if (keyBinding === undefined)
    throw new VerificationError('malformed', 'An SD-JWT needs a ~ after its JWT and after each disclosure')
  return { jwt: jwt!, disclosures, ...(keyBinding !== '' && { keyBinding }) }
}

function toClaimsSet(
  text: string,
  { disclosures: encoded, keyBinding }: SdJwtParts,
  payload: JsonObject,
  x5c: unknown,
): SdJwtClaimsSet {
  // Registered claims must be in the signed payload, so that they are visible without disclosures.
  const { iss, sub, iat, nbf, exp, vct, cnf, status, credentialStatus } = parseClaims(SdJwtClaims, payload)
  const confirmation = readConfirmation(cnf)
  const { claims: processed, located, disclosures } = unpack(payload, encoded)
  const hidden = disclosures.find(({ path }) => path.length === 1 && registered.has(path[0]!))
  if (hidden)
    throw new VerificationError(
      'malformed',
      `The claim ${hidden.path[0]} must not be selectively disclosable`,
    )
  return {
    sdJwt: text.slice(0, text.lastIndexOf('~') + 1),
    ...(keyBinding !== undefined && { keyBinding }),
    issuerDid: issuerOf(iss, x5c),
    x5c,
    ...(sub !== undefined && { subjectDid: sub }),
    claims: withoutRegistered(processed),
    processed,
    located,
    ...(vct !== undefined && { vct }),
    isBound: confirmation !== undefined,
    ...confirmation,
    statuses: [...[credentialStatus ?? []].flat(), ...(status === undefined ? [] : [toStatusEntry(status)])],
    disclosures,
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
