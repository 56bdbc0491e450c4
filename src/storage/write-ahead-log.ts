/**
 * SQLite's write-ahead log, read without SQLite (sqlite.org/fileformat2.html §4, sqlite.org/walformat.html §2).
 *
 * SQLite verifies the log when it opens a file that nobody has open, and takes what comes after the first fault for a commit that never was.
 * Here the fault is told apart from the end.
 */
import { readFileSync } from 'node:fs'
import { endianness } from 'node:os'
import { crc32 } from 'node:zlib'

/** What was committed to a log, as far as it is sound. */
export type Log = {
  /** Hexadecimal; another one each time the log begins anew. */
  salt: string
  pageBytes: number
  /** Frames up to the end of the last commit that is sound. */
  frames: number
  /** Pages of the database after that commit. */
  size: number
  /** The pages that those frames hold, and the CRC-32 of the newest of each. */
  pages: Map<number, number>
}

/** How far a log goes by its index, which all who have the database open share: what was committed when the last of them ended. */
export type LogEnd = Pick<Log, 'salt' | 'frames'>

export const headerBytes = 32
export const frameHeaderBytes = 24
const indexHeaderBytes = 48
const isLittleEndian = endianness() === 'LE'
/** How a log begins whose checksums are counted in the byte order of this machine. */
export const magicOfOurs = isLittleEndian ? 0x377f0682 : 0x377f0683

/** Reads the log of a database; nothing when there is none, or none that begins soundly. Its own file has no locks, so SQLite may have it open. */
export function readLog(path: string): Log | undefined {
  const bytes = readIfThere(`${path}-wal`)
  const magic = bytes.length >= headerBytes ? bytes.readUInt32BE(0) : 0
  if (magic >>> 1 !== 0x377f0682 >>> 1) return undefined
  const words = wordsOf(bytes, magic === 0x377f0683)
  let sum = addWords(words, 0, 24, [0, 0])
  if (sum[0] !== bytes.readUInt32BE(24) || sum[1] !== bytes.readUInt32BE(28)) return undefined
  const pageBytes = bytes.readUInt32BE(8)
  const frameBytes = frameHeaderBytes + pageBytes
  const log: Log = { salt: bytes.toString('hex', 16, 24), pageBytes, frames: 0, size: 0, pages: new Map() }
  const newest = new Map<number, number>()
  let uncommitted: [page: number, at: number][] = []
  for (let at = headerBytes, frame = 1; at + frameBytes <= bytes.length; at += frameBytes, frame++) {
    if (bytes.compare(bytes, 16, 24, at + 8, at + 16) !== 0) break
    sum = addWords(words, at + frameHeaderBytes, pageBytes, addWords(words, at, 8, sum))
    if (sum[0] !== bytes.readUInt32BE(at + 16) || sum[1] !== bytes.readUInt32BE(at + 20)) break
    uncommitted.push([bytes.readUInt32BE(at), at + frameHeaderBytes])
    const size = bytes.readUInt32BE(at + 4)
    if (size === 0) continue
    for (const [page, place] of uncommitted) newest.set(page, place)
    uncommitted = []
    Object.assign(log, { frames: frame, size })
  }
  for (const [page, place] of newest) log.pages.set(page, crc32(bytes.subarray(place, place + pageBytes)))
  return log
}

/**
 * Reads the end of the log from the index beside it; nothing when there is no index, or it is not whole. Its file must be open nowhere in
 * this process: closing it would take away the locks that SQLite holds on it.
 */
export function readLogEnd(path: string): LogEnd | undefined {
  const bytes = readIfThere(`${path}-shm`).subarray(0, indexHeaderBytes * 2)
  if (
    bytes.length < indexHeaderBytes * 2 ||
    bytes.compare(bytes, indexHeaderBytes, indexHeaderBytes * 2, 0, indexHeaderBytes) !== 0
  )
    return undefined
  // It is in the order of the machine, but for the salt, which is as in the log.
  const words = new Uint32Array(new Uint8Array(bytes).buffer)
  const [first, second] = addWords(new Int32Array(words.buffer), 0, indexHeaderBytes - 8, [0, 0])
  if (bytes[12] !== 1 || words[10] !== first || words[11] !== second) return undefined
  return { salt: bytes.toString('hex', 32, 40), frames: words[4]! }
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}

/** The bytes as words of 32 bits, each in the order that the log was written in. */
function wordsOf(bytes: Buffer, isBigEndian: boolean): Int32Array {
  const isOurs = isBigEndian !== isLittleEndian
  if (isOurs && bytes.byteOffset % 4 === 0)
    return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)
  const whole = new Uint8Array(bytes.subarray(0, bytes.length & ~3))
  if (!isOurs) Buffer.from(whole.buffer).swap32()
  return new Int32Array(whole.buffer)
}

/** Goes on with SQLite's checksum over `length` bytes, a multiple of eight, from the byte `start`. */
export function addWords(
  words: Int32Array,
  start: number,
  length: number,
  [first, second]: readonly [number, number],
): [number, number] {
  let [a, b] = [first | 0, second | 0]
  for (let at = start / 4, end = (start + length) / 4; at < end; at += 2) {
    // Signed, in which a processor counts at once.
    a = (a + words[at]! + b) | 0
    b = (b + words[at + 1]! + a) | 0
  }
  return [a >>> 0, b >>> 0]
}
