/**
 * What is about to be copied from an open database's own log into its file: the newest frame of each page.
 *
 * A frame carries the checksum of the log up to its end, which goes on from that of the frame before it (sqlite.org/fileformat2.html §4.2). So each
 * can be verified by itself, and those that newer ones have replaced, most of a busy log, need not be.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import {
  addWords,
  frameHeaderBytes,
  headerBytes,
  magicOfOurs,
  readLog,
  type Log,
  type LogEnd,
} from './write-ahead-log.ts'

/** Frames that are read at a time, from the last one backwards: a log is not in memory as a whole. */
const framesAtOnce = 64

/**
 * Reads the newest frames of a log that has `frames` of them, all committed, but for those up to `known`; nothing when it is not as it was written.
 *
 * @throws as `node:fs` does.
 */
export function readNewest(path: string, frames: number, known: LogEnd): Log | undefined {
  const file = openSync(`${path}-wal`, 'r')
  try {
    const head = Buffer.alloc(headerBytes)
    if (readSync(file, head, 0, headerBytes, 0) < headerBytes) return undefined
    if (head.readUInt32BE(0) !== magicOfOurs) return readForeign(path, frames)
    const pageBytes = head.readUInt32BE(8)
    const log: Log = { salt: head.toString('hex', 16, 24), pageBytes, frames, size: 0, pages: new Map() }
    const first = log.salt === known.salt ? known.frames : 0
    return addNewest(file, first, log) ? log : undefined
  } finally {
    closeSync(file)
  }
}

/** One that a machine of the other byte order began is rare, and read from its beginning. */
function readForeign(path: string, frames: number): Log | undefined {
  const log = readLog(path)
  return log?.frames === frames ? log : undefined
}

/** Adds the pages of the frames after the first ones. Returns whether all are sound. */
function addNewest(file: number, first: number, log: Log): boolean {
  const frameBytes = frameHeaderBytes + log.pageBytes
  const placeOf = (frame: number) => headerBytes + frame * frameBytes
  const chunk = Buffer.allocUnsafeSlow(headerBytes + (framesAtOnce + 1) * frameBytes)
  const words = new Int32Array(chunk.buffer)
  for (let to = log.frames; to > first; to -= framesAtOnce) {
    const from = Math.max(to - framesAtOnce, first)
    // With what is before them, which has the checksum that theirs go on from.
    const start = from === 0 ? 0 : placeOf(from - 1)
    const length = placeOf(to) - start
    if (readSync(file, chunk, 0, length, start) < length) return false
    if (to === log.frames) log.size = chunk.readUInt32BE(placeOf(to - 1) - start + 4)
    for (let frame = to - 1; frame >= from; frame--) {
      const at = placeOf(frame) - start
      const page = chunk.readUInt32BE(at)
      if (log.pages.has(page)) continue
      const before = frame === 0 ? 24 : at - frameBytes + 16
      const sum = addWords(words, at, 8, [chunk.readUInt32BE(before), chunk.readUInt32BE(before + 4)])
      const [a, b] = addWords(words, at + frameHeaderBytes, log.pageBytes, sum)
      const isSound = a === chunk.readUInt32BE(at + 16) && b === chunk.readUInt32BE(at + 20)
      if (!isSound || chunk.toString('hex', at + 8, at + 16) !== log.salt) return false
      log.pages.set(page, crc32(chunk.subarray(at + frameHeaderBytes, at + frameBytes)))
    }
  }
  return log.size > 0 || log.pages.size === 0
}
