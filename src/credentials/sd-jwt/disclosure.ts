/** Disclosures of an SD-JWT (RFC 9901 §4.2): a salt, a name unless it is an array's element, and a value; known in the token by a digest. */
import { hash, randomBytes } from 'node:crypto'
import { toBase64url } from '../../base/bytes.ts'
import { parseJson } from '../../base/json.ts'
import { VerificationError } from '../verification-error.ts'

/** `encoded` is the text that is hashed and sent. An element of an array has no name. */
export type Disclosure = { encoded: string; name?: string; value: unknown }

/** The names by which an SD-JWT speaks of disclosures; no claim can be called so. */
export const reserved: ReadonlySet<string> = new Set(['_sd', '_sd_alg', '...'])

/** Hash functions that are understood (IANA "Named Information Hash Algorithm"), by their names in node:crypto. */
const hashes: Readonly<Record<string, string>> = {
  'sha-256': 'sha256',
  'sha-384': 'sha384',
  'sha-512': 'sha512',
}

export type Digest = (encoded: string) => string

/** How a token's `_sd_alg` hashes; SHA-256 when it says nothing. @throws {VerificationError} `malformed` for a function that is not understood. */
export function digestBy(algorithm: unknown = 'sha-256'): Digest {
  const name =
    typeof algorithm === 'string' && Object.hasOwn(hashes, algorithm) ? hashes[algorithm]! : undefined
  if (name === undefined)
    throw new VerificationError('malformed', 'The _sd_alg is none of sha-256, sha-384 and sha-512')
  return (encoded) => hash(name, encoded, 'base64url')
}

/** Makes a disclosure with a salt of 128 bits. */
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
    throw malformed('is no array of two or three')
  const [salt, ...rest] = content as unknown[]
  if (typeof salt !== 'string') throw malformed('has no salt')
  if (rest.length === 1) return { encoded, value: rest[0] }
  const [name, value] = rest
  if (typeof name !== 'string' || reserved.has(name)) throw malformed('has no name that a claim may have')
  return { encoded, name, value }
}

function malformed(reason: string, cause?: unknown): VerificationError {
  return new VerificationError('malformed', `A disclosure ${reason}`, { cause })
}

/**
 * JSON whose base64url has no `-`, at which the real agent cuts a disclosure (wire.md 4.5): every character that could make one is escaped,
 * and all that is not ASCII.
 */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[>~\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
