/**
 * Compact JWS (RFC 7515 §3.1) with EdDSA (RFC 8037), ES256K (RFC 8812) and ES256 (RFC 7518 §3.4). Only the
 * canonical encoding is accepted.
 *
 * The library jose does not support ES256K. Keys come only from the signer's DID document or a trusted chain
 * of certificates: parsing drops `jwk`, `jku`, `x5u` and all other header members that are not listed here
 * (RFC 8725 §3.1).
 */
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { faultsOf, mustBe } from '../../foundation/faults.ts'
import { fromStrictBase64url, toBase64url, utf8 } from '../../foundation/bytes.ts'
import { algorithmOf, type PrivateJwk, type PublicJwk, sign, verify } from '../../foundation/crypto/keys.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../foundation/json.ts'
import { type Failure, VerificationError } from './verification-error.ts'

/** The length limit of tokens in characters, the same as the body limit of the DIDComm endpoint. */
export const maxTokenLength = 1_048_576

/** The supported header members. `kid` is a bare key id or a DID URL. */
export const JoseHeader = z.object({
  crit: z.never('is not understood').optional(),
  b64: z.never('is not understood').optional(),
  alg: z.enum(['EdDSA', 'ES256K', 'ES256'], { error: mustBe('EdDSA, ES256K or ES256') }),
  typ: z.string().optional(),
  kid: z.string().optional(),
  /** Certificates, unchecked (RFC 7515 §4.1.6). */
  x5c: z.unknown().optional(),
})
export type JoseHeader = z.infer<typeof JoseHeader>

/** A decoded token. Nothing in it is verified. */
export type Jws = {
  header: Readonly<JoseHeader>
  payload: JsonObject
  signingInput: Uint8Array
  signature: Uint8Array
}

/**
 * Signs a payload with the algorithm of the key. `parameters` are further header parameters, of the type of
 * the token.
 */
export function signJws(
  header: {
    typ?: string
    kid?: string | undefined
    x5c?: readonly string[] | undefined
    jwk?: PublicJwk | undefined
    parameters?: JsonObject | undefined
  },
  payload: object,
  key: PrivateJwk,
): string {
  const protectedHeader = {
    typ: header.typ,
    alg: algorithmOf(key),
    kid: header.kid,
    x5c: header.x5c,
    jwk: header.jwk,
    ...header.parameters,
  }
  const signingInput = `${toBase64url(JSON.stringify(protectedHeader))}.${toBase64url(JSON.stringify(payload))}`
  return `${signingInput}.${toBase64url(sign(key, utf8(signingInput)))}`
}

/**
 * Decodes a token without verifying it.
 *
 * @throws {VerificationError} `too-large`, `malformed`, `algorithm`, `critical-header`
 */
export function decodeJws(text: string): Jws {
  const [header, payload, signature] = split(text)
  return {
    header: readHeader(header),
    payload: toObject('payload', payload),
    signingInput: utf8(text.slice(0, header.length + 1 + payload.length)),
    signature: fromCanonicalBase64url('signature', signature),
  }
}

/** Decodes the payload, whatever the header is. @throws {VerificationError} `too-large`, `malformed` */
export function decodePayload(text: string): JsonObject {
  return toObject('payload', split(text)[1])
}

/** Decodes the header without checking it. @throws {VerificationError} `too-large`, `malformed` */
export function decodeHeader(text: string): JsonObject {
  return toObject('header', split(text)[0])
}

/** Whether a key made the signature. The algorithm in the header must be that of the key's curve. */
export function isSignedBy(jws: Jws, key: PublicJwk): boolean {
  return fitsAlgorithm(jws, key) && verify(key, jws.signingInput, jws.signature)
}

/** Whether the algorithm in the header is that of the key's curve. */
export function fitsAlgorithm({ header }: Pick<Jws, 'header'>, key: PublicJwk): boolean {
  try {
    return algorithmOf(key) === header.alg
  } catch {
    return false
  }
}

/** Parses a payload with a zod schema. @throws {VerificationError} `malformed`, naming the member. */
export function parseClaims<Claims extends z.ZodType>(claims: Claims, payload: JsonObject): z.infer<Claims> {
  const parsed = claims.safeParse(payload)
  if (parsed.success) return parsed.data
  const { path, message } = faultsOf(parsed.error, 1)[0]!
  throw new VerificationError('malformed', `The claim '${path.join('.')}' is invalid: ${message}`)
}

function split(text: string): [header: string, payload: string, signature: string] {
  if (text.length > maxTokenLength)
    throw new VerificationError(
      'too-large',
      `The token has ${text.length} characters; the limit is ${maxTokenLength}`,
    )
  const parts = text.split('.')
  if (parts.length !== 3) {
    const hint = parts.length === 5 ? ': it is encrypted (JWE)' : ''
    throw new VerificationError('malformed', `A compact JWS has three parts, not ${parts.length}${hint}`)
  }
  return parts as [string, string, string]
}

/** Parsed headers by their text. The tokens of one issuer have the same header. */
const headers = new LRUCache<string, Readonly<JoseHeader>>({ max: 200 })
const maxCachedLength = 500

function readHeader(text: string): Readonly<JoseHeader> {
  const cached = headers.get(text)
  if (cached) return cached
  const header = Object.freeze(parseHeader(toObject('header', text)))
  // A copy, because a substring keeps the whole token in memory.
  if (text.length <= maxCachedLength) headers.set(Buffer.from(text).toString(), header)
  return header
}

function parseHeader(value: JsonObject): JoseHeader {
  const parsed = JoseHeader.safeParse(value)
  if (parsed.success) return parsed.data
  const { path, message } = parsed.error.issues[0]!
  const failure: Failure =
    path[0] === 'alg'
      ? 'algorithm'
      : path[0] === 'crit' || path[0] === 'b64'
        ? 'critical-header'
        : 'malformed'
  throw new VerificationError(failure, `The header member '${String(path[0])}' is invalid: ${message}`)
}

function toObject(part: string, text: string): JsonObject {
  const bytes = fromCanonicalBase64url(part, text)
  let value: unknown
  try {
    value = parseJson(bytes)
  } catch (cause) {
    throw new VerificationError(
      'malformed',
      `The ${part} is not acceptable JSON: ${(cause as Error).message}`,
      { cause },
    )
  }
  if (!isJsonObject(value)) throw new VerificationError('malformed', `The ${part} is not a JSON object`)
  return value
}

function fromCanonicalBase64url(part: string, text: string): Uint8Array {
  try {
    return fromStrictBase64url(text)
  } catch (cause) {
    throw new VerificationError('malformed', `The ${part} ${(cause as Error).message}`, { cause })
  }
}
