/**
 * The file of the checksums of a database file's pages: `<file>.sum`.
 *
 * First those of all pages, then those of the pages that have changed since, a block for every time that the log was copied into the database: so
 * what is written then is no more for a large database than for a small one. When the blocks have become more than the rest, all is written anew.
 */
import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { crc32 } from 'node:zlib'
import type { Log, LogEnd } from './write-ahead-log.ts'

/** What is known of the file without what it says of each page. */
export type PageSumsEnd = {
  pageBytes: number
  /** How many pages the database has. */
  pages: number
  /** How much of which log is in them. */
  until: LogEnd
  /** Bytes of the file, and how many of them were added since all was written. */
  bytes: number
  added: number
}

export type PageSums = PageSumsEnd & {
  /** CRC-32 of each page, the first one first; 0 for a page that was never written. */
  sums: Uint32Array
}

export type NewPageSums = Pick<PageSums, 'pageBytes' | 'sums' | 'until'>

/** Blocks are left as they are up to so many bytes, however small the database. */
const fewBytes = 65_536

/** Where the checksums of a file are. */
export function pageSumsPath(path: string): string {
  return `${path}.sum`
}

/** The bytes of a file that has the checksums of all pages. A half of them, after a crash, counts as none. */
export function toPageSumsFile({ pageBytes, sums, until }: NewPageSums): Buffer {
  return toBlock('pages', { pageBytes, pages: sums.length, until }, sums)
}

/** Writes the checksums of all pages; they are on the disk when this returns. @throws when that is not possible. */
export function writePageSums(path: string, found: NewPageSums): PageSumsEnd {
  const { pageBytes, sums, until } = found
  const end = { pageBytes, pages: sums.length, until }
  const block = toPageSumsFile(found)
  writeAt(path, 0, block)
  return { ...end, bytes: block.length, added: 0 }
}

/** Adds the checksums of the pages of a log; they are on the disk when this returns. @throws when that is not possible. */
export function addPageSums(path: string, known: PageSumsEnd, log: Log): PageSumsEnd {
  const next = { ...known, pages: log.size, until: { salt: log.salt, frames: log.frames } }
  const block = toBlock('changes', next, Uint32Array.from([...log.pages].flat()))
  const added = known.added + block.length
  const before = added > Math.max(fewBytes, log.size * 4) ? readPageSums(path) : undefined
  if (before) return writePageSums(path, { ...next, sums: withLog(before.sums, log) })
  // What an attempt before this one, on a full disk, has left there is no block.
  writeAt(path, known.bytes, block)
  return { ...next, bytes: known.bytes + block.length, added }
}

function writeAt(path: string, place: number, bytes: Buffer): void {
  const file = openSync(pageSumsPath(path), constants.O_RDWR | constants.O_CREAT, 0o600)
  try {
    ftruncateSync(file, place)
    writeSync(file, bytes, 0, bytes.length, place)
    fdatasyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Reads the checksums of a file; nothing when it has none that are whole. */
export function readPageSums(path: string): PageSums | undefined {
  const bytes = existsSync(pageSumsPath(path)) ? readFileSync(pageSumsPath(path)) : Buffer.alloc(0)
  let known: PageSums | undefined
  for (let at = 0; at < bytes.length;) {
    const block = readBlock(bytes.subarray(at), at === 0 ? 'pages' : 'changes')
    if (!block) return undefined
    const { words, length, ...end } = block
    const sums: Uint32Array = known ? changed(known.sums, end.pages, words) : words
    at += length
    known = { ...end, sums, bytes: at, added: known ? known.added + length : 0 }
  }
  return known
}

/** Forgets the checksums of a file. */
export function dropPageSums(path: string): void {
  rmSync(pageSumsPath(path), { force: true })
}

function withLog(sums: Uint32Array, { size, pages }: Log): Uint32Array {
  return changed(sums, size, Uint32Array.from([...pages].flat()))
}

/** Checksums with some of them replaced, which are given as pairs of a page and its checksum, for a database of so many pages. */
function changed(sums: Uint32Array, pages: number, pairs: Uint32Array): Uint32Array {
  const next = sums.length >= pages ? sums.subarray(0, pages) : new Uint32Array(pages)
  if (next.length > sums.length) next.set(sums)
  for (let at = 0; at < pairs.length; at += 2) if (pairs[at]! <= pages) next[pairs[at]! - 1] = pairs[at + 1]!
  return next
}

type Kind = 'pages' | 'changes'

function toBlock(
  kind: Kind,
  { pageBytes, pages, until }: Omit<PageSumsEnd, 'bytes' | 'added'>,
  words: Uint32Array,
): Buffer {
  const body = Buffer.from(words.buffer, words.byteOffset, words.byteLength)
  const head = `${kind} ${pageBytes} ${pages} ${until.salt} ${until.frames} ${body.length}`
  return Buffer.concat([Buffer.from(`${head} ${crc32(body, crc32(head))}\n`), body])
}

function readBlock(
  bytes: Buffer,
  kind: Kind,
): (Omit<PageSumsEnd, 'bytes' | 'added'> & { words: Uint32Array; length: number }) | undefined {
  const match = /^((pages|changes) (\d+) (\d+) ([0-9a-f]{16}) (\d+) (\d+)) (\d+)\n/.exec(
    bytes.toString('latin1', 0, 150),
  )
  if (match?.[2] !== kind) return undefined
  const [line, head, , pageBytes, pages, salt, frames, size, sum] = match
  const length = line.length + Number(size)
  const body = bytes.subarray(line.length, length)
  const isWhole = body.length === Number(size) && crc32(body, crc32(head!)) === Number(sum)
  if (
    !isWhole ||
    body.length % (kind === 'pages' ? 4 : 8) !== 0 ||
    (kind === 'pages' && body.length !== Number(pages) * 4)
  )
    return undefined
  const words = new Uint32Array(new Uint8Array(body).buffer)
  return {
    pageBytes: Number(pageBytes),
    pages: Number(pages),
    until: { salt: salt!, frames: Number(frames) },
    words,
    length,
  }
}
