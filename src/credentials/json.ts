/**
 * JSON that has one reading only: UTF-8 without faults, no name twice in an object, no depth that exhausts a stack (RFC 8725 §2.4, threats C18, C19).
 *
 * Parsers differ in which of two equal names they keep, so what one party checked another may never have seen.
 */
import { countMembers, inspectJson } from '../base/json-limits.ts'

// A byte order mark is kept, for JSON to refuse: dropped, it would give one token several spellings.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A JSON object as parsed: names such as `__proto__` are own members of it and nothing else. */
export type JsonObject = { [name: string]: unknown }

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Gives an object a member of its own, be it called `__proto__`. */
export function setMember(object: JsonObject, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  else object[name] = value
}

/**
 * Reads JSON from its UTF-8 bytes.
 *
 * @throws {TypeError | SyntaxError} for bytes that are not UTF-8, text that is not JSON, a name given twice in one object, or more than `jsonLimits` allow.
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decoder.decode(bytes)
  const { excess, members } = inspectJson(text)
  if (excess !== undefined) throw new TypeError(`JSON ${excess}`)
  const value: unknown = JSON.parse(text)
  if (members !== countMembers(value)) refuseRepeated(text)
  return value
}

/** Walks the strings and brackets of a text that is known to be JSON, and to name something twice. */
function refuseRepeated(text: string): void {
  const open: (Set<string> | undefined)[] = []
  let previous = ''
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(undefined)
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':') addName(open.at(-1)!, JSON.parse(previous) as string)
    previous = token
  }
}

function addName(names: Set<string>, name: string): void {
  if (names.has(name)) throw new TypeError(`the name '${name}' is given twice in one object`)
  names.add(name)
}
