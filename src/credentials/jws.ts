/**
 * Compact JWS (RFC 7515 §3.1) with EdDSA (RFC 8037), ES256K (RFC 8812) and ES256 (RFC 7518 §3.4), read strictly: a token has one spelling, and
 * every other is refused.
 *
 * jose has no ES256K, hence this file. Keys come from the signer's DID document alone: `jwk`, `jku`, `x5u`, `x5c` and every
 * other member of a header that is not named here are dropped while parsing, so that nothing can use them (RFC 8725 §3.1, threats C4, C5).
 */
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { toBase64url, utf8 } from '../base/bytes.ts'
import { algorithmOf, type PrivateJwk, type PublicJwk, sign, verify } from '../crypto/keys.ts'
import { isJsonObject, type JsonObject, parseJson } from '../base/json.ts'
import { type Failure, VerificationError } from './verification-error.ts'

/** The longest token that is read, in characters: what the DIDComm endpoint takes as a whole body. */
export const maxTokenLength = 1_048_576

/** What is read of a header: `alg` of the three allowed, `kid` bare or a DID URL. */
export const JoseHeader = z.object({
  crit: z.never('is not understood').optional(),
  b64: z.never('is not understood').optional(),
  alg: z.enum(['EdDSA', 'ES256K', 'ES256']),
  typ: z.string().optional(),
  kid: z.string().optional(),
})
export type JoseHeader = z.infer<typeof JoseHeader>

/** A token taken apart, nothing of it verified. */
export type Jws = {
  header: Readonly<JoseHeader>
  payload: JsonObject
  signingInput: Uint8Array
  signature: Uint8Array
}

/** Signs a payload with the algorithm of the key; the header is `typ`, `alg`, `kid`, those that are given. */
export function signJws(
  header: { typ?: string; kid?: string | undefined },
  payload: object,
  key: PrivateJwk,
): string {
  const protectedHeader = { typ: header.typ, alg: algorithmOf(key), kid: header.kid }
  const signingInput = `${toBase64url(JSON.stringify(protectedHeader))}.${toBase64url(JSON.stringify(payload))}`
  return `${signingInput}.${toBase64url(sign(key, utf8(signingInput)))}`
}

/**
 * Takes a token apart without verifying it.
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

/** The payload of a token whatever its header says, of which nothing is known then. @throws {VerificationError} `too-large`, `malformed` */
export function decodePayload(text: string): JsonObject {
  return toObject('payload', split(text)[1])
}

/** The header of a token as it is written, of which nothing is accepted. @throws {VerificationError} `too-large`, `malformed` */
export function decodeHeader(text: string): JsonObject {
  return toObject('header', split(text)[0])
}

/** True when a key made the signature of a token, with the algorithm the token says and the key's curve has. */
export function isSignedBy(jws: Jws, key: PublicJwk): boolean {
  return fitsAlgorithm(jws, key) && verify(key, jws.signingInput, jws.signature)
}

/** True when the algorithm in the header of a token is the one that a key signs with. */
export function fitsAlgorithm({ header }: Pick<Jws, 'header'>, key: PublicJwk): boolean {
  try {
    return algorithmOf(key) === header.alg
  } catch {
    return false
  }
}

/** Reads the payload of a token by its zod object. @throws {VerificationError} `malformed`, naming the member. */
export function parseClaims<Claims extends z.ZodType>(claims: Claims, payload: JsonObject): z.infer<Claims> {
  const parsed = claims.safeParse(payload)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new VerificationError(
    'malformed',
    `The claim '${issue!.path.join('.')}' does not hold what it should: ${issue!.message}`,
  )
}

function split(text: string): [header: string, payload: string, signature: string] {
  if (text.length > maxTokenLength)
    throw new VerificationError(
      'too-large',
      `A token of ${text.length} characters; ${maxTokenLength} are read`,
    )
  const parts = text.split('.')
  if (parts.length !== 3)
    throw new VerificationError('malformed', `A compact JWS has three parts, not ${parts.length}`)
  return parts as [string, string, string]
}

/** Headers that were accepted, by their text: an issuer's are all the same. */
const headers = new LRUCache<string, Readonly<JoseHeader>>({ max: 200 })
const longestKept = 500

function readHeader(text: string): Readonly<JoseHeader> {
  const known = headers.get(text)
  if (known) return known
  const header = Object.freeze(parseHeader(toObject('header', text)))
  // As a copy: a part of a text keeps all of it in memory.
  if (text.length <= longestKept) headers.set(Buffer.from(text).toString(), header)
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
  throw new VerificationError(failure, `The header's '${String(path[0])}' is not accepted: ${message}`)
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

/** RFC 7515 §2: no padding, no other character; and the spare bits of the last one are zero, which decoders commonly overlook. */
function fromCanonicalBase64url(part: string, text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') !== text)
    throw new VerificationError('malformed', `The ${part} is not canonical base64url without padding`)
  return bytes
}
