/**
 * Walks over CBOR before it is decoded: whatever exceeds a limit or is not well-formed is refused before it
 * takes memory. What a strict reader would refuse besides is a finding.
 */
import { isUtf8 } from 'node:buffer'
import { breakByte, type Head, indefinite, isLong, major, readHead } from './head.ts'
import { CborError } from './value.ts'

export type CborLimits = {
  /** Bytes of the whole. */
  bytes: number
  /** Arrays, maps and tags around an item. */
  depth: number
  /** Data items, those in arrays, maps and tags included. */
  items: number
  /** Bytes of a text, also of a map key. */
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

export type Scan = {
  findings: Finding[]
  /** The tags that occur. */
  tags: Set<number>
  /** The offset of each tag 24, by the offset of its byte string. */
  embedded: Map<number, number>
}

/**
 * What a strict reader warns of. Arrays and maps may be in any order.
 *
 * @throws {CborError}
 */
export function scanCbor(bytes: Uint8Array, limits?: Partial<CborLimits>): Finding[] {
  return scan(bytes, limits).findings
}

/** @throws {CborError} for what is not one well-formed item within the limits */
export function scan(bytes: Uint8Array, limits?: Partial<CborLimits>): Scan {
  const scanner = new Scanner(bytes, { ...defaultLimits, ...limits })
  if (bytes.length > scanner.limits.bytes)
    throw new CborError(`${bytes.length} bytes, more than ${scanner.limits.bytes},`, 0)
  const end = scanner.item(0, 0)
  if (end < bytes.length) throw new CborError('more data after the end', end)
  return scanner
}

class Scanner implements Scan {
  readonly findings: Finding[] = []
  readonly tags = new Set<number>()
  readonly embedded = new Map<number, number>()
  readonly bytes: Uint8Array
  readonly limits: CborLimits
  private items = 0

  constructor(bytes: Uint8Array, limits: CborLimits) {
    this.bytes = bytes
    this.limits = limits
  }

  /** Checks the item at an offset, and returns the offset behind it. */
  item(offset: number, depth: number): number {
    const head = readHead(this.bytes, offset)
    this.items += 1
    if (this.items > this.limits.items)
      throw new CborError(`more than ${this.limits.items} data items`, offset)
    if (isLong(head)) this.findings.push({ name: 'long-head', offset })
    switch (head.major) {
      case major.bytes:
      case major.text:
        return this.string(head, offset)
      case major.array:
      case major.map:
        return this.collection(head, offset, this.deeper(offset, depth))
      case major.tag:
        return this.tag(head, offset, this.deeper(offset, depth))
      case major.simple:
        return this.simple(head, offset)
      default:
        if (head.info === indefinite) throw new CborError('an integer without a value', offset)
        return head.end
    }
  }

  private deeper(offset: number, depth: number): number {
    if (depth >= this.limits.depth) throw new CborError(`nested deeper than ${this.limits.depth}`, offset)
    return depth + 1
  }

  private string({ major: type, info, argument, end }: Head, offset: number): number {
    const isText = type === major.text
    const name = isText ? 'text' : 'byte string'
    if (info === indefinite) throw new CborError(`a ${name} of indefinite length`, offset)
    if (argument > this.bytes.length - end)
      throw new CborError(
        `a ${name} of ${argument} bytes, of which ${this.bytes.length - end} are there,`,
        offset,
      )
    const limit = isText ? this.limits.text : this.limits.byteString
    if (argument > limit) throw new CborError(`a ${name} of ${argument} bytes, more than ${limit},`, offset)
    const next = end + Number(argument)
    if (isText && !isUtf8(this.bytes.subarray(end, next)))
      throw new CborError('a text that is not UTF-8', offset)
    return next
  }

  private collection({ major: type, info, argument, end }: Head, offset: number, depth: number): number {
    const isMap = type === major.map
    const keys = new Set<string>()
    let at = end
    const member = () => {
      if (isMap) at = this.key(keys, at, depth)
      at = this.item(at, depth)
    }
    if (info === indefinite) {
      this.findings.push({ name: 'indefinite', offset })
      while (this.bytes[at] !== breakByte) member()
      return at + 1
    }
    const name = isMap ? 'map' : 'array'
    const left = this.bytes.length - end
    if (argument > left / (isMap ? 2 : 1))
      throw new CborError(
        `${isMap ? 'a' : 'an'} ${name} of ${argument}, for which ${left} bytes are left,`,
        offset,
      )
    for (let index = 0; index < Number(argument); index += 1) member()
    return at
  }

  /** A key: an integer, a text or a byte string, once in its map. */
  private key(keys: Set<string>, offset: number, depth: number): number {
    const { major: type, argument, end } = readHead(this.bytes, offset)
    if (type > major.text)
      throw new CborError('a map key that is neither an integer nor a text nor a byte string', offset)
    if (argument > this.limits.text && type === major.bytes)
      throw new CborError(`a map key of ${argument} bytes, more than ${this.limits.text},`, offset)
    const next = this.item(offset, depth)
    const isString = type === major.bytes || type === major.text
    const value = isString ? Buffer.from(this.bytes.subarray(end, next)).toString('latin1') : argument
    const key = `${type} ${value}`
    if (keys.has(key)) throw new CborError('a map key that occurs twice', offset)
    keys.add(key)
    return next
  }

  private tag({ info, argument, end }: Head, offset: number, depth: number): number {
    if (info === indefinite || typeof argument === 'bigint')
      throw new CborError('a tag that is not a number below 2^53', offset)
    this.tags.add(argument)
    if (argument === 24) {
      if (readHead(this.bytes, end).major !== major.bytes)
        throw new CborError('tag 24 without a byte string', offset)
      this.embedded.set(end, offset)
    }
    return this.item(end, depth)
  }

  private simple({ info, argument, end }: Head, offset: number): number {
    if (info === indefinite) throw new CborError('a break without a beginning', offset)
    if (info < 20 || info === 24) throw new CborError(`the unassigned simple value ${argument}`, offset)
    if (info === 23) this.findings.push({ name: 'undefined', offset })
    return end
  }
}
