/**
 * Reads CBOR in one pass. Whatever exceeds a limit or is not well-formed is refused at its first byte, before
 * it takes memory: the announced lengths are compared with what is left.
 */
import { isUtf8 } from 'node:buffer'
import { breakByte, type Head, indefinite, isLong, major, readHead } from './head.ts'
import { CborError, type CborMap, type CborValue, Embedded, embeddedTag, Tagged } from './value.ts'

export type CborLimits = {
  /** Bytes of the whole. */
  bytes: number
  /** Arrays, maps and tags around an item. */
  depth: number
  /** Data items, those in arrays, maps and tags included. */
  items: number
  /** Bytes of a text, and of a map key. */
  text: number
  /** Bytes of a byte string. */
  byteString: number
}

export const defaultLimits: Readonly<CborLimits> = {
  bytes: 4 * 1024 * 1024,
  depth: 16,
  items: 10_000,
  text: 64 * 1024,
  byteString: 2 * 1024 * 1024,
}

/**
 * `long-head`: a shorter head says the same. `indefinite`: an array or map whose end is marked by a break.
 * `undefined`: the simple value 23.
 */
export type Finding = { name: 'long-head' | 'indefinite' | 'undefined'; offset: number }

/** Reads the one item that bytes are, with what a strict reader warns of. @throws {CborError} */
export function readCbor(
  bytes: Uint8Array,
  limits?: Partial<CborLimits>,
): { value: CborValue; findings: Finding[] } {
  const reader = new Reader(bytes, { ...defaultLimits, ...limits })
  return { value: reader.whole(), findings: reader.findings }
}

class Reader {
  readonly findings: Finding[] = []
  private readonly bytes: Uint8Array
  private readonly buffer: Buffer
  private readonly limits: CborLimits
  /** The offset of the next item. */
  private at = 0
  private items = 0

  constructor({ buffer, byteOffset, byteLength }: Uint8Array, limits: CborLimits) {
    this.bytes = new Uint8Array(buffer, byteOffset, byteLength)
    this.buffer = Buffer.from(buffer, byteOffset, byteLength)
    this.limits = limits
  }

  whole(): CborValue {
    const { length } = this.bytes
    if (length > this.limits.bytes) throw new CborError(`${length} bytes, more than ${this.limits.bytes},`, 0)
    const value = this.item(0)
    if (this.at < length) throw new CborError('more data after the end', this.at)
    return value
  }

  private item(depth: number): CborValue {
    const offset = this.at
    const head = readHead(this.bytes, offset)
    this.at = head.end
    this.items += 1
    if (this.items > this.limits.items)
      throw new CborError(`more than ${this.limits.items} data items`, offset)
    if (isLong(head)) this.findings.push({ name: 'long-head', offset })
    switch (head.major) {
      case major.bytes:
        return this.string(head, offset)
      case major.text:
        return this.text(head, offset)
      case major.array:
        return this.array(head, offset, this.deeper(depth, offset))
      case major.map:
        return this.map(head, offset, this.deeper(depth, offset))
      case major.tag:
        return this.tag(head, offset, this.deeper(depth, offset))
      case major.simple:
        return this.simple(head, offset)
      default:
        return integer(head, offset)
    }
  }

  private deeper(depth: number, offset: number): number {
    if (depth >= this.limits.depth) throw new CborError(`nested deeper than ${this.limits.depth}`, offset)
    return depth + 1
  }

  /** The content of a string, which is not copied. */
  private string({ major: type, info, argument, end }: Head, offset: number): Uint8Array {
    const isText = type === major.text
    const name = isText ? 'a text' : 'a byte string'
    if (info === indefinite) throw new CborError(`${name} of indefinite length`, offset)
    const left = this.bytes.length - end
    if (argument > left)
      throw new CborError(`${name} of ${argument} bytes, of which ${left} are there,`, offset)
    const limit = isText ? this.limits.text : this.limits.byteString
    if (argument > limit) throw new CborError(`${name} of ${argument} bytes, more than ${limit},`, offset)
    this.at = end + Number(argument)
    return this.bytes.subarray(end, this.at)
  }

  private text(head: Head, offset: number): string {
    const content = this.string(head, offset)
    const text = this.buffer.toString('utf8', head.end, this.at)
    // Decoding replaces what is not UTF-8 by this character.
    if (text.includes('\uFFFD') && !isUtf8(content)) throw new CborError('a text that is not UTF-8', offset)
    return text
  }

  private array(head: Head, offset: number, depth: number): CborValue[] {
    this.announce(head, offset, 1)
    const array: CborValue[] = []
    while (!this.isEnd(head, array.length)) array.push(this.item(depth))
    return array
  }

  private map(head: Head, offset: number, depth: number): CborMap {
    this.announce(head, offset, 2)
    const map: CborMap = new Map()
    const byteKeys = new Set<string>()
    while (!this.isEnd(head, map.size)) {
      const at = this.at
      const key = this.key(depth)
      const isTwice = key instanceof Uint8Array ? byteKeys.has(nameOf(key)) : map.has(key)
      if (isTwice) throw new CborError('a map key that occurs twice', at)
      if (key instanceof Uint8Array) byteKeys.add(nameOf(key))
      map.set(key, this.item(depth))
    }
    return map
  }

  /** Compares an announced number of members with what is left. Each has `size` bytes at least. */
  private announce({ major: type, info, argument, end }: Head, offset: number, size: number): void {
    if (info === indefinite) this.findings.push({ name: 'indefinite', offset })
    const left = this.bytes.length - end
    if (info === indefinite || argument <= left / size) return
    const name = `${type === major.map ? 'a map' : 'an array'} of ${argument}`
    throw new CborError(`${name}, for which ${left} bytes are left,`, offset)
  }

  /** Whether an array or a map has all its members. Passes over the break. */
  private isEnd({ info, argument }: Head, members: number): boolean {
    if (info !== indefinite) return members === argument
    const isBreak = this.bytes[this.at] === breakByte
    if (isBreak) this.at += 1
    return isBreak
  }

  /** An integer, a text or a byte string. */
  private key(depth: number): CborValue {
    const { major: type, argument } = readHead(this.bytes, this.at)
    if (type > major.text)
      throw new CborError('a map key that is neither an integer nor a text nor a byte string', this.at)
    if (type === major.bytes && argument > this.limits.text)
      throw new CborError(`a map key of ${argument} bytes, more than ${this.limits.text},`, this.at)
    return this.item(depth)
  }

  private tag({ info, argument }: Head, offset: number, depth: number): Tagged | Embedded {
    if (info === indefinite || typeof argument === 'bigint')
      throw new CborError('a tag that is not a number below 2^53', offset)
    const value = this.item(depth)
    if (argument !== embeddedTag) return new Tagged(argument, value)
    if (!(value instanceof Uint8Array)) throw new CborError('tag 24 without a byte string', offset)
    return new Embedded(this.bytes.subarray(offset, this.at), value)
  }

  private simple({ info, argument, end }: Head, offset: number): CborValue {
    switch (info) {
      case 20:
        return false
      case 21:
        return true
      case 22:
        return null
      case 23:
        this.findings.push({ name: 'undefined', offset })
        return undefined
      case 25:
        return readHalf(argument as number)
      case 26:
        return this.buffer.readFloatBE(end - 4)
      case 27:
        return this.buffer.readDoubleBE(end - 8)
      case indefinite:
        throw new CborError('a break without a beginning', offset)
      default:
        throw new CborError(`the unassigned simple value ${argument}`, offset)
    }
  }
}

function integer({ major: type, info, argument }: Head, offset: number): number | bigint {
  if (info === indefinite) throw new CborError('an integer without a value', offset)
  if (type === major.unsigned) return argument
  const value = -1 - Number(argument)
  return Number.isSafeInteger(value) ? value : -1n - BigInt(argument)
}

/** A number of 16 bits (RFC 8949, Appendix D). */
function readHalf(bits: number): number {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023]
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25))
}

/** Bytes as a text of as many characters, which a set can compare. */
function nameOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1')
}
