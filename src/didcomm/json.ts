/**
 * JSON and base64url as peers send them, read more strictly than `JSON.parse` and `Buffer` do.
 *
 * RFC 7515 §4 lets a JOSE header be refused for a repeated member name, RFC 7515 §2 knows one base64url text for
 * given bytes, and nothing in DIDComm nests deeply: what differs is an attack on a laxer reader further on.
 */
import { fromUtf8 } from '../base/bytes.ts'
import { countMembers, inspectJson } from '../base/json-limits.ts'

/** A JSON object, as opposed to an array, a scalar or null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Parses JSON.
 *
 * @param text the text, or its UTF-8.
 * @throws {TypeError} when it is not UTF-8, not JSON, or over `jsonLimits`; the text itself is never quoted.
 */
export function readJson(text: string | Uint8Array): unknown {
  return parse(text).value
}

/** The same, and no object in it may name a member twice: the text then has more members than the value. @throws {TypeError} */
export function readStrictJson(text: string | Uint8Array): unknown {
  const { value, members } = parse(text)
  if (members !== countMembers(value)) throw new TypeError('names a member twice')
  return value
}

/** The value of a text, and how many members it names. */
function parse(text: string | Uint8Array): { value: unknown; members: number } {
  const json = typeof text === 'string' ? text : attempt(() => fromUtf8(text))
  // Before it is parsed, which would take long.
  const { excess, members } = inspectJson(json)
  if (excess !== undefined) throw new TypeError(excess)
  return { value: attempt(() => JSON.parse(json) as unknown), members }
}

/** The engine's own messages quote the text, which may be a decrypted one. */
function attempt<T>(read: () => T): T {
  try {
    return read()
  } catch {
    throw new TypeError('is not JSON')
  }
}

/** Reads base64url without padding. @throws {TypeError} for any text that is not the one encoding of its bytes. */
export function fromStrictBase64url(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') !== text) throw new TypeError('is not canonical base64url')
  return bytes
}

/** An object without its members that are null, a copy if it has some: some peers write null for what they leave out (wire.md 1.4). */
export function withoutNulls(object: Record<string, unknown>): Record<string, unknown> {
  // Hardly any peer writes them.
  return Object.values(object).includes(null)
    ? Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))
    : object
}
