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

/** The bytes of the argument that follow the first byte, by `info` from 24. */
const lengths = [1, 2, 4, 8]

/** @throws {CborError} when the head is cut off, or has a reserved form */
export function readHead(bytes: Uint8Array, offset: number): Head {
  const first = bytes[offset]
  if (first === undefined) throw new CborError('the data ends too early', offset)
  const info = first & 31
  if (info < 24 || info === indefinite) return { major: first >> 5, info, argument: info, end: offset + 1 }
  const length = lengths[info - 24]
  if (length === undefined) throw new CborError(`the reserved head ${first.toString(16)}`, offset)
  const end = offset + 1 + length
  if (end > bytes.length) throw new CborError('the data ends too early', offset)
  return { major: first >> 5, info, argument: readArgument(bytes, offset + 1, length), end }
}

function readArgument(bytes: Uint8Array, offset: number, length: number): number | bigint {
  if (length < 8) return readNumber(bytes, offset, length)
  const high = readNumber(bytes, offset, 4)
  const low = readNumber(bytes, offset + 4, 4)
  return high < 2 ** 21 ? high * 2 ** 32 + low : (BigInt(high) << 32n) + BigInt(low)
}

function readNumber(bytes: Uint8Array, offset: number, length: number): number {
  let number = 0
  for (let at = offset; at < offset + length; at += 1) number = number * 256 + bytes[at]!
  return number
}

/** The numbers from which heads need each length. */
const shortest = [24, 2 ** 8, 2 ** 16, 2 ** 32]

/** Whether a shorter head could have said the same (RFC 8949 §4.2.1). */
export function isLong({ major: type, info, argument }: Head): boolean {
  return info >= 24 && info < indefinite && type !== major.simple && argument < shortest[info - 24]!
}

/** The shortest head. @throws {RangeError} for an argument of more than 64 bits */
export function writeHead(type: number, argument: number | bigint): Uint8Array {
  const found = shortest.findIndex((limit) => argument < limit)
  const info = found === -1 ? 27 : 23 + found
  if (found === 0) return Uint8Array.of((type << 5) | Number(argument))
  const length = lengths[info - 24]!
  const head = Buffer.alloc(1 + length)
  head[0] = (type << 5) | info
  if (length === 8) head.writeBigUInt64BE(BigInt(argument), 1)
  else head.writeUIntBE(Number(argument), 1, length)
  return head
}
