/** Writes deterministic CBOR (RFC 8949 §4.2.1), in which what another made keeps its bytes. */
import { concat, utf8 } from '../bytes.ts'
import { major, writeHead } from './head.ts'
import { type CborMap, type CborValue, Embedded, embeddedTag, Tagged } from './value.ts'

const simple = { false: 0xf4, true: 0xf5, null: 0xf6, undefined: 0xf7, float64: 0xfb } as const

/** Wraps encoded CBOR in a byte string with tag 24. */
export function embed(content: Uint8Array): Embedded {
  return new Embedded(concat(writeHead(major.tag, embeddedTag), withHead(major.bytes, content)), content)
}

/**
 * Encodes deterministically: the shortest integers and lengths, definite lengths, the keys of maps in the
 * order of their bytes. An `Embedded` is written as it is. Numbers that are no safe integers have 64 bits,
 * which all readers of ISO 18013-5 know.
 *
 * @throws {RangeError} for an integer of more than 64 bits
 */
export function encodeCbor(value: CborValue): Uint8Array {
  switch (typeof value) {
    case 'number':
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? integer(value) : float(value)
    case 'bigint':
      return integer(value)
    case 'string':
      return withHead(major.text, utf8(value))
    case 'boolean':
    case 'undefined':
      return Uint8Array.of(simple[`${value}`])
    default:
      return value === null ? Uint8Array.of(simple.null) : encodeObject(value)
  }
}

function encodeObject(value: Uint8Array | CborValue[] | CborMap | Embedded | Tagged): Uint8Array {
  if (value instanceof Uint8Array) return withHead(major.bytes, value)
  if (value instanceof Embedded) return value.bytes
  if (value instanceof Tagged) return concat(writeHead(major.tag, value.tag), encodeCbor(value.value))
  if (Array.isArray(value)) return concat(writeHead(major.array, value.length), ...value.map(encodeCbor))
  const pairs = [...value].map(([key, member]) => [encodeCbor(key), encodeCbor(member)] as const)
  const sorted = pairs.toSorted(([one], [other]) => Buffer.compare(one, other))
  return concat(writeHead(major.map, pairs.length), ...sorted.flat())
}

function withHead(type: number, content: Uint8Array): Uint8Array {
  return concat(writeHead(type, content.length), content)
}

function integer(value: number | bigint): Uint8Array {
  if (value >= 0) return writeHead(major.unsigned, value)
  return writeHead(major.negative, typeof value === 'bigint' ? -1n - value : -1 - value)
}

function float(value: number): Uint8Array {
  const bytes = Buffer.alloc(9)
  bytes[0] = simple.float64
  bytes.writeDoubleBE(value, 1)
  return bytes
}
