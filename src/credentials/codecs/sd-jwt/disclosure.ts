/** Disclosures of an SD-JWT (RFC 9901 §4.2): creating them for claims, and decoding them. */
import { hash, randomBytes } from 'node:crypto'
import { quote } from '../../../foundation/faults.ts'
import { toBase64url, fromStrictBase64url } from '../../../foundation/bytes.ts'
import { isJsonObject, type JsonObject, parseJson, setMember } from '../../../foundation/json.ts'
import { VerificationError } from '../verification-error.ts'

/** `encoded` is the base64url form, which is hashed. Disclosures of array elements have no name. */
export type Disclosure = { encoded: string; name?: string; value: unknown }

/** Names that claims must not have (RFC 9901 §4.1). */
export const reserved: ReadonlySet<string> = new Set(['_sd', '_sd_alg', '...'])

/** The path of a claim with a reserved name, at any level. Elements of arrays have their index as text. */
export function findReserved(claims: unknown, path: readonly string[] = []): string[] | undefined {
  if (typeof claims !== 'object' || claims === null) return undefined
  for (const [name, below] of Object.entries(claims)) {
    const here = [...path, name]
    const found = reserved.has(name) ? here : findReserved(below, here)
    if (found) return found
  }
  return undefined
}

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
    throw new VerificationError(
      'malformed',
      `The _sd_alg is ${quote(algorithm)}, none of sha-256, sha-384 and sha-512`,
    )
  return (encoded) => hash(name, encoded, 'base64url')
}

/** Creates a disclosure with a salt of 128 bits. */
export function disclose(value: unknown, name?: string): string {
  const salt = toBase64url(randomBytes(16))
  return toBase64url(asciiJson(name === undefined ? [salt, value] : [salt, name, value]))
}

/** @throws {VerificationError} `malformed` */
export function readDisclosure(encoded: string): Disclosure {
  let content: unknown
  try {
    content = parseJson(fromStrictBase64url(encoded))
  } catch (cause) {
    throw malformed((cause as Error).message, cause)
  }
  if (!Array.isArray(content) || content.length < 2 || content.length > 3)
    throw malformed('is not an array of two or three: salt, name and value')
  const [salt, ...rest] = content as unknown[]
  if (typeof salt !== 'string') throw malformed('has a salt that is not a text')
  if (rest.length === 1) return { encoded, value: rest[0] }
  const [name, value] = rest
  if (typeof name !== 'string') throw malformed('has a name that is not a text')
  if (reserved.has(name)) throw malformed(`has the reserved name ${name}`)
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

/** Whether the claim at a path is selectively disclosable. Array elements have their index in the path. */
export type IsDisclosable = (path: readonly (string | number)[]) => boolean

/**
 * Replaces claims by digests (RFC 9901 §6): all of them, at every level, or those that `isDisclosable`
 * selects. Digests are sorted, so that their order reveals nothing.
 */
export function pack(
  claims: JsonObject,
  isDisclosable: IsDisclosable = () => true,
): { payload: JsonObject; disclosures: string[] } {
  const disclosures: string[] = []
  type Path = (string | number)[]

  function packObject(object: JsonObject, path: Path): JsonObject {
    const packed: JsonObject = {}
    const digests: string[] = []
    for (const [name, value] of Object.entries(object)) {
      const here = [...path, name]
      const below = packValue(value, here)
      if (isDisclosable(here)) digests.push(add(disclosures, disclose(below, name)))
      else setMember(packed, name, below)
    }
    return digests.length > 0 ? { ...packed, _sd: digests.toSorted() } : packed
  }

  function packValue(value: unknown, path: Path): unknown {
    if (!Array.isArray(value)) return isJsonObject(value) ? packObject(value, path) : value
    return value.map((element: unknown, i) => {
      const below = packValue(element, [...path, i])
      return isDisclosable([...path, i]) ? { '...': add(disclosures, disclose(below)) } : below
    })
  }

  return { payload: packObject(claims, []), disclosures }
}

function add(disclosures: string[], disclosure: string): string {
  disclosures.push(disclosure)
  return sha256(disclosure)
}
