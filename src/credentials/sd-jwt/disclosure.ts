/** Disclosures of an SD-JWT (RFC 9901 §4.2): creating them for claims, and decoding them. */
import { hash, randomBytes } from 'node:crypto'
import { toBase64url } from '../../base/bytes.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts'
import { VerificationError } from '../verification-error.ts'

/** `encoded` is the base64url form, which is hashed. Disclosures of array elements have no name. */
export type Disclosure = { encoded: string; name?: string; value: unknown }

/** Names that claims must not have (RFC 9901 §4.1). */
export const reserved: ReadonlySet<string> = new Set(['_sd', '_sd_alg', '...'])

/** Supported hash functions (IANA "Named Information Hash Algorithm") by their names in node:crypto. */
const hashes: Readonly<Record<string, string>> = {
  'sha-256': 'sha256',
  'sha-384': 'sha384',
  'sha-512': 'sha512',
}

export type Digest = (encoded: string) => string

/**
 * The hash function of a token's `_sd_alg`.
 *
 * @throws {VerificationError} `malformed` for an unsupported function.
 */
export function digestBy(algorithm: unknown = 'sha-256'): Digest {
  const name =
    typeof algorithm === 'string' && Object.hasOwn(hashes, algorithm) ? hashes[algorithm]! : undefined
  if (name === undefined)
    throw new VerificationError('malformed', 'The _sd_alg is none of sha-256, sha-384 and sha-512')
  return (encoded) => hash(name, encoded, 'base64url')
}

/** Creates a disclosure with a salt of 128 bits. */
export function disclose(value: unknown, name?: string): string {
  const salt = toBase64url(randomBytes(16))
  return toBase64url(asciiJson(name === undefined ? [salt, value] : [salt, name, value]))
}

/** @throws {VerificationError} `malformed` */
export function readDisclosure(encoded: string): Disclosure {
  const bytes = Buffer.from(encoded, 'base64url')
  if (bytes.toString('base64url') !== encoded) throw malformed('is not canonical base64url without padding')
  let content: unknown
  try {
    content = parseJson(bytes)
  } catch (cause) {
    throw malformed('is not acceptable JSON', cause)
  }
  if (!Array.isArray(content) || content.length < 2 || content.length > 3)
    throw malformed('is not an array of two or three')
  const [salt, ...rest] = content as unknown[]
  if (typeof salt !== 'string') throw malformed('has no salt')
  if (rest.length === 1) return { encoded, value: rest[0] }
  const [name, value] = rest
  if (typeof name !== 'string' || reserved.has(name)) throw malformed('has no name, or a reserved one')
  return { encoded, name, value }
}

function malformed(reason: string, cause?: unknown): VerificationError {
  return new VerificationError('malformed', `A disclosure ${reason}`, { cause })
}

/**
 * JSON in ASCII whose base64url contains no `-`, because the Cloud Agent splits disclosures at `-`. All
 * characters that could lead to one are escaped.
 */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[>~\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const sha256 = digestBy('sha-256')

/**
 * Replaces all claims, at every level, by digests (RFC 9901 §6). Digests are sorted, so that their order
 * reveals nothing.
 */
export function pack(claims: JsonObject): { payload: JsonObject; disclosures: string[] } {
  const disclosures: string[] = []
  const payload = packObject(claims, disclosures)
  return { payload, disclosures }
}

function packObject(object: JsonObject, disclosures: string[]): JsonObject {
  const digests = Object.entries(object).map(([name, value]) =>
    add(disclosures, disclose(packValue(value, disclosures), name)),
  )
  return digests.length > 0 ? { _sd: digests.toSorted() } : {}
}

function packValue(value: unknown, disclosures: string[]): unknown {
  if (Array.isArray(value))
    return value.map((element) => ({ '...': add(disclosures, disclose(packValue(element, disclosures))) }))
  return isJsonObject(value) ? packObject(value, disclosures) : value
}

function add(disclosures: string[], disclosure: string): string {
  disclosures.push(disclosure)
  return sha256(disclosure)
}
