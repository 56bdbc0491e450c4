/**
 * CBOR (RFC 8949) from outside and to outside. What is decoded has passed a scan with limits. What is written
 * is deterministic (§4.2.1), but what another made keeps its bytes.
 */
import { decode, encode, type TagDecoder, Tokenizer } from 'cborg'
import { concat } from '../bytes.ts'
import { major } from './head.ts'
import { type CborLimits, scan } from './scan.ts'
import { CborError, type CborMap, type CborValue, Embedded, Tagged } from './value.ts'

export { diagnose } from './diagnose.ts'
export { type CborLimits, defaultLimits, type Finding, scanCbor } from './scan.ts'
export { CborError, type CborMap, type CborValue, Embedded, Tagged } from './value.ts'

/** The tag of a byte string that holds encoded CBOR. */
const embeddedTag = 24

/**
 * Decodes one item. Maps are `Map`, with integers, texts and byte strings as keys. Arrays and maps of
 * indefinite length are accepted, and heads that are longer than they must be: `scanCbor` finds those.
 *
 * @throws {CborError} for what is not well-formed or exceeds a limit; for a key that occurs twice; for bytes
 * after the end; for text that is not UTF-8; for strings of indefinite length
 */
export function decodeCbor(bytes: Uint8Array, limits?: Partial<CborLimits>): CborValue {
  const data = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { tags, embedded } = scan(data, limits)
  const options = { useMaps: true, rejectDuplicateMapKeys: true, allowBigInt: true }
  const tokenizer = new Tokenizer(data, options)
  const decoders: Record<number, TagDecoder> = {}
  for (const tag of tags) decoders[tag] = (content) => new Tagged(tag, content() as CborValue)
  decoders[embeddedTag] = (content) => {
    const start = embedded.get(tokenizer.pos())
    const string = content() as Uint8Array
    return new Embedded(data.subarray(start, tokenizer.pos()), string)
  }
  try {
    return decode(data, { ...options, tags: decoders, tokenizer }) as CborValue
  } catch (cause) {
    throw new CborError('CBOR that cannot be decoded', tokenizer.pos(), { cause })
  }
}

/** Wraps encoded CBOR in a byte string with tag 24. */
export function embed(content: Uint8Array): Embedded {
  return new Embedded(
    concat(head(major.tag, embeddedTag), head(major.bytes, content.length), content),
    content,
  )
}

/**
 * Encodes deterministically (RFC 8949 §4.2.1): the shortest integers and lengths, definite lengths, the keys of
 * maps in the order of their bytes. An `Embedded` is written as it is. Numbers with a fraction have 64 bits,
 * which all readers of ISO 18013-5 know.
 */
export function encodeCbor(value: CborValue): Uint8Array {
  if (value instanceof Embedded) return value.bytes
  if (value instanceof Tagged) return concat(head(major.tag, value.tag), encodeCbor(value.value))
  if (Array.isArray(value)) return concat(head(major.array, value.length), ...value.map(encodeCbor))
  if (value instanceof Map) return encodeMap(value)
  return encode(value, { float64: true })
}

function encodeMap(map: CborMap): Uint8Array {
  const pairs = [...map].map(([key, value]) => [encodeCbor(key), encodeCbor(value)] as const)
  const sorted = pairs.toSorted(([a], [b]) => Buffer.compare(a, b))
  return concat(head(major.map, pairs.length), ...sorted.flat())
}

/** The shortest head: that of an integer, with another major type. */
function head(type: number, argument: number): Uint8Array {
  const bytes = Uint8Array.from(encode(argument))
  bytes[0]! |= type << 5
  return bytes
}
