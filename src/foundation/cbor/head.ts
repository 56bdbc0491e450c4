/** The head of a CBOR data item (RFC 8949 §3): its major type and its argument. */
import { CborError } from './value.ts'

/** Major types (RFC 8949 §3.1). */
export const major = {
  unsigned: 0,
  negative: 1,
  bytes: 2,
  text: 3,
  array: 4,
  map: 5,
  tag: 6,
  simple: 7,
} as const

export type Head = {
  major: number
  /** The five low bits of the first byte. 31 is an indefinite length, or the break. */
  info: number
  /** The number that is written in the head: a value, a length or a tag. */
  argument: number | bigint
  /** The byte after the head. */
  end: number
}

/** The break that ends an array or map of indefinite length. */
export const breakByte = 0xff

export const indefinite = 31

/** @throws {CborError} when the head is cut off, or has a reserved form */
export function readHead(bytes: Uint8Array, offset: number): Head {
  const first = bytes[offset]
  if (first === undefined) throw new CborError('the data ends too early', offset)
  const info = first & 31
  const head = { major: first >> 5, info }
  if (info < 24 || info === indefinite) return { ...head, argument: info, end: offset + 1 }
  if (info > 27) throw new CborError(`the reserved head ${first.toString(16)}`, offset)
  const length = 2 ** (info - 24)
  const end = offset + 1 + length
  if (end > bytes.length) throw new CborError('the data ends too early', offset)
  return { ...head, argument: readArgument(bytes, offset + 1, length), end }
}

function readArgument(bytes: Uint8Array, offset: number, length: number): number | bigint {
  let high = 0
  for (let index = 0; index < length && index < 4; index += 1) high = high * 256 + bytes[offset + index]!
  if (length < 8) return high
  let low = 0
  for (let index = 4; index < 8; index += 1) low = low * 256 + bytes[offset + index]!
  return high < 2 ** 21 ? high * 2 ** 32 + low : (BigInt(high) << 32n) + BigInt(low)
}

/** Whether a shorter head could have said the same (RFC 8949 §4.2.1). */
export function isLong({ major: type, info, argument }: Head): boolean {
  if (type === major.simple || info < 24 || info === indefinite) return false
  return argument < (info === 24 ? 24 : 2 ** (8 * 2 ** (info - 25)))
}
