/** Diagnostic notation (RFC 8949 §8, RFC 8610 Appendix G): CBOR for people. */
import { fromUtf8, toHex } from '../bytes.ts'
import { breakByte, type Head, indefinite, major, readHead } from './head.ts'
import { type CborLimits, readCbor } from './read.ts'
import { CborError, embeddedTag } from './value.ts'

export type Notation = {
  /** Begins each line with the offset of its item. */
  offsets?: boolean
  /** The bytes of a byte string that are shown. */
  maxBytes?: number
  limits?: Partial<CborLimits>
}

/**
 * Writes an item in diagnostic notation, one member a line. The content of tag 24 is shown as
 * `24(<< … >>)`, and so is that of any byte string that is a map or has tag 24, as headers and payloads of
 * COSE are. A long byte string is cut, and its length is said: `h'0102…' /3072 bytes/`.
 *
 * @throws {CborError}
 */
export function diagnose(
  bytes: Uint8Array,
  { offsets = false, maxBytes = 32, limits }: Notation = {},
): string {
  readCbor(bytes, limits)
  const lines: Line[] = [{ offset: 0, indent: 0, text: '' }]
  new Writer(bytes, { lines, maxBytes, limits, base: 0, depth: 0 }).item(0, 0)
  const width = String(bytes.length).length
  return lines
    .map(({ offset = '', indent, text }) => {
      const line = `${'  '.repeat(indent)}${text}`
      return offsets ? `${String(offset).padStart(width)}  ${line}` : line
    })
    .join('\n')
}

/** A line that only closes has no offset. */
type Line = { offset?: number; indent: number; text: string }
/** Byte strings in byte strings that are opened. */
const maxDepth = 8

type Paper = {
  lines: Line[]
  maxBytes: number
  limits: Partial<CborLimits> | undefined
  /** The offset of the bytes in the whole. */
  base: number
  /** The byte strings around the bytes. */
  depth: number
}

class Writer {
  readonly bytes: Uint8Array
  readonly paper: Paper

  constructor(bytes: Uint8Array, paper: Paper) {
    this.bytes = bytes
    this.paper = paper
  }

  /** Writes the item at an offset, and returns the offset behind it. */
  item(offset: number, indent: number): number {
    const head = readHead(this.bytes, offset)
    switch (head.major) {
      case major.bytes:
        return this.embedded(offset, indent) || this.byteString(head)
      case major.text:
        return this.text(head)
      case major.array:
        return this.collection(head, indent, '[]')
      case major.map:
        return this.collection(head, indent, '{}')
      case major.tag:
        return this.tag(head, indent)
      default:
        return this.number(head, offset)
    }
  }

  private write(text: string): void {
    this.paper.lines.at(-1)!.text += text
  }

  private begin(offset: number, indent: number): void {
    this.paper.lines.push({ offset: this.paper.base + offset, indent, text: '' })
  }

  private close(mark: string, indent: number): void {
    this.paper.lines.push({ indent, text: mark })
  }

  private byteString({ argument, end }: Head): number {
    const next = end + Number(argument)
    const isCut = next - end > this.paper.maxBytes
    const shown = toHex(this.bytes.subarray(end, isCut ? end + this.paper.maxBytes : next))
    this.write(isCut ? `h'${shown}…' /${argument} bytes/` : `h'${shown}'`)
    return next
  }

  private text({ argument, end }: Head): number {
    const next = end + Number(argument)
    this.write(JSON.stringify(fromUtf8(this.bytes.subarray(end, next))))
    return next
  }

  private collection({ major: type, info, argument, end }: Head, indent: number, marks: string): number {
    const isEnd = (at: number, count: number) =>
      info === indefinite ? this.bytes[at] === breakByte : count === argument
    this.write(info === indefinite ? `${marks[0]}_` : marks[0]!)
    let at = end
    let count = 0
    for (; !isEnd(at, count); count += 1) {
      if (count > 0) this.write(',')
      this.begin(at, indent + 1)
      if (type === major.map) {
        at = this.item(at, indent + 1)
        this.write(': ')
      }
      at = this.item(at, indent + 1)
    }
    if (count > 0) this.close(marks[1]!, indent)
    else this.write(info === indefinite ? ` ${marks[1]}` : marks[1]!)
    return info === indefinite ? at + 1 : at
  }

  private tag({ argument, end }: Head, indent: number): number {
    this.write(`${argument}(`)
    const next = (argument === embeddedTag && this.embedded(end, indent, true)) || this.item(end, indent)
    this.write(')')
    return next
  }

  /** Writes the content of a byte string. Returns 0, and writes nothing, if that is not one item. */
  private embedded(offset: number, indent: number, isTagged = false): number {
    const { argument, end } = readHead(this.bytes, offset)
    const next = end + Number(argument)
    const content = this.bytes.subarray(end, next)
    if (this.paper.depth >= maxDepth || !(isTagged || isLikelyCbor(content))) return 0
    try {
      readCbor(content, this.paper.limits)
    } catch (error) {
      if (error instanceof CborError) return 0
      throw error
    }
    this.write('<<')
    this.begin(end, indent + 1)
    new Writer(content, {
      ...this.paper,
      base: this.paper.base + end,
      depth: this.paper.depth + 1,
    }).item(0, indent + 1)
    this.close('>>', indent)
    return next
  }

  private number({ end }: Head, offset: number): number {
    const value = readCbor(this.bytes.subarray(offset, end)).value as
      number | bigint | boolean | null | undefined
    const isFloat = this.bytes[offset]! >> 5 === major.simple && Number.isInteger(value)
    this.write(Object.is(value, -0) ? '-0.0' : `${String(value)}${isFloat ? '.0' : ''}`)
    return end
  }
}

/** Whether bytes begin as a map with members, or with tag 24. */
function isLikelyCbor([first = 0, second]: Uint8Array): boolean {
  return (first >> 5 === major.map && first !== 0xa0) || (first === 0xd8 && second === 24)
}
