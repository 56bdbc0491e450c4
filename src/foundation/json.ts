/**
 * JSON from other parties. There is one reader, `parseJson`: it accepts only texts that every JSON parser
 * reads in the same way, and refuses a text that is expensive to process before it parses it (RFC 8259, RFC
 * 7493, RFC 8725 §2.4).
 */
import serialize from 'canonicalize'
import * as z from 'zod'

/** A parsed JSON object. Names such as `__proto__` are own members of it. */
export type JsonObject = { [name: string]: unknown }

/**
 * The schema of any JSON value. It has a name, because clients generated from the OpenAPI document need one
 * for the recursion.
 */
export const JsonValue = z
  .json()
  .register(z.globalRegistry, { id: 'JsonValue', description: 'Any JSON value.' })

/** Nested arrays and objects; values in the whole text; UTF-16 units of a member name as written. */
export const jsonLimits = { depth: 64, values: 20_000, name: 1_024 } as const

/**
 * A text is refused. The message is a predicate such as `is nested deeper than 64 levels`, and never quotes
 * the text, which may be secret.
 */
export class JsonError extends TypeError {
  override name = 'JsonError'
}

// JSON.parse refuses a byte order mark. If the decoder dropped it, one token would have several spellings.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses a JSON text, given as a string or as UTF-8. The caller bounds its size.
 *
 * @throws {JsonError} when it is not UTF-8 or not JSON, exceeds `jsonLimits`, or an object in it names a
 * member twice.
 */
export function parseJson(text: string | Uint8Array): unknown {
  const json = typeof text === 'string' ? text : decode(text)
  const members = inspect(json)
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw new JsonError(`is not JSON: ${jsonFault(error)}`)
  }
  // JSON.parse keeps the last of two members with the same name.
  if (members !== countMembers(value)) throw new JsonError('names a member twice in one object')
  return value
}

/** Parses a text of this program's own files or of a trusted service. Returns undefined when it is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A text of a file that a person wrote, without the byte order mark that some editors put before it. */
export function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** The reason in an error of `JSON.parse` without the parts of the text that V8 quotes. */
export function jsonFault(error: unknown): string {
  const { message } = error as Error
  return message.includes('"') ? 'Unexpected character in JSON' : message
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Sets an own member of an object, even one named `__proto__`. */
export function setMember(object: JsonObject, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  else object[name] = value
}

/**
 * Whether an object in a value has a member named `__proto__`, which is lost when the value is copied or
 * stored.
 */
export function hasPrototypeMember(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasPrototypeMember)
}

/** An object without its members that are null. Some agents write null for an absent member. */
export function withoutNulls(object: JsonObject): JsonObject {
  return Object.values(object).includes(null)
    ? Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))
    : object
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new JsonError('is not JSON: it is not UTF-8')
  }
}

const [quote, backslash, comma, colon, openArray, closeArray, openObject, closeObject] = [...'"\\,:[]{}'].map(
  (char) => char.charCodeAt(0),
)

/**
 * Scans a text, which need not be JSON, once. Returns the number of members that its objects name.
 *
 * @throws {JsonError} above `jsonLimits`
 */
function inspect(json: string): number {
  let [depth, values, length, members] = [0, 1, 0, 0]
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (char === quote) {
      const end = endOfString(json, at + 1)
      length = end - at - 1
      at = end
    } else if (char === comma) values++
    else if (char === colon) {
      members++
      if (length > jsonLimits.name)
        throw new JsonError(`has a name of more than ${jsonLimits.name} characters`)
    } else if (char === openObject || char === openArray) {
      values++
      if (++depth > jsonLimits.depth) throw new JsonError(`is nested deeper than ${jsonLimits.depth} levels`)
    } else if (char === closeObject || char === closeArray) depth--
    if (values > jsonLimits.values) throw new JsonError(`has more than ${jsonLimits.values} values`)
  }
  return members
}

/** The index of the quote that ends a string: the next one without an odd number of backslashes before it. */
function endOfString(json: string, start: number): number {
  for (let at = json.indexOf('"', start); at >= 0; at = json.indexOf('"', at + 1)) {
    let slash = at
    while (slash > start && json.charCodeAt(slash - 1) === backslash) slash--
    if ((at - slash) % 2 === 0) return at
  }
  return json.length
}

/** The number of members of all objects in a value. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const children: unknown[] = Array.isArray(value) ? value : Object.values(value)
  let members = Array.isArray(value) ? 0 : children.length
  for (const child of children) members += countMembers(child)
  return members
}

/**
 * Writes JSON data in its canonical form: members in the order of their UTF-16 names, no white space.
 * Recursive: the depth must be bounded before.
 */
export function canonicalize(value: unknown): string {
  // The package is a function where its types say that it has one.
  return (serialize as unknown as (value: unknown) => string | undefined)(value) ?? 'null'
}
