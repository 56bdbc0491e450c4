/** Values of elements: from JSON to CBOR by the type of the document, and back (RFC 8949 §6.1). */
import { fromBase64, toBase64url } from '../../../foundation/bytes.ts'
import { type CborValue, Embedded, Tagged } from '../../../foundation/cbor/index.ts'
import { isJsonObject } from '../../../foundation/json.ts'
import type { DocumentType, Encoding } from './document-type.ts'

/** Tags of texts: a date with time (RFC 8949 §3.4.1), a date (RFC 8943). */
export const [tdateTag, fullDateTag] = [0, 1004]

/** A value that has not the type of its element. The path begins with the namespace. */
export class ElementError extends Error {
  readonly path: string
  constructor(path: readonly (string | number)[], reason: string) {
    const place = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('')
    super(`${place.slice(1)}: ${reason}`)
    this.path = place.slice(1)
  }
}

/** The CBOR of a value of an element. @throws {ElementError} */
export function toCbor(
  value: unknown,
  path: readonly (string | number)[],
  types: DocumentType['encodings'],
): CborValue {
  const encoding = types.find((each) => isAt(each.path, path))?.as
  if (encoding) return encode(value, encoding, path)
  if (Array.isArray(value)) return value.map((each, index) => toCbor(each, [...path, index], types))
  if (isJsonObject(value))
    return new Map(Object.entries(value).map(([name, each]) => [name, toCbor(each, [...path, name], types)]))
  return value as CborValue
}

function isAt(pattern: readonly (string | null)[], path: readonly (string | number)[]): boolean {
  return (
    pattern.length === path.length &&
    pattern.every((part, index) => (part === null ? typeof path[index] === 'number' : part === path[index]))
  )
}

function encode(value: unknown, encoding: Encoding, path: readonly (string | number)[]): CborValue {
  if (encoding === 'float') {
    if (typeof value === 'number') return value
    throw new ElementError(path, 'is not a number')
  }
  if (typeof value !== 'string') throw new ElementError(path, `is not text, of which a ${encoding} is made`)
  if (encoding === 'bytes') {
    if (/^[\w+/-]+={0,2}$/.test(value)) return fromBase64(value)
    throw new ElementError(path, 'is not base64url, of which a byte string is made')
  }
  if (encoding === 'full-date') {
    if (isDate(value)) return new Tagged(fullDateTag, value)
    throw new ElementError(path, 'is not a date (full-date) such as 2026-11-28')
  }
  const instant = Date.parse(value)
  if (Number.isNaN(instant))
    throw new ElementError(path, 'is not a date and time (tdate) such as 2026-11-28T09:30:00Z')
  return toTdate(instant / 1_000)
}

/** Whether a text is a day of the calendar, `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

/** Epoch seconds as `tdate`: without fractions, in UTC. */
export function toTdate(seconds: number): Tagged {
  return new Tagged(tdateTag, `${new Date(Math.floor(seconds) * 1_000).toISOString().slice(0, 19)}Z`)
}

/** The JSON of a value, for people and for queries. What has no JSON form is null. */
export function toJson(value: CborValue): unknown {
  if (value instanceof Uint8Array) return toBase64url(value)
  if (value instanceof Tagged) return toJson(value.value)
  if (value instanceof Embedded) return toBase64url(value.content)
  if (Array.isArray(value)) return value.map(toJson)
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, each]) => [toKey(key), toJson(each)] as const))
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  return value ?? null
}

/** The name of a member in JSON. */
export function toKey(key: CborValue): string {
  return typeof key === 'string' ? key : String(toJson(key))
}
