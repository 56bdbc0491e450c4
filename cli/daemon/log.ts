/** Reads and follows the daemon’s log with its older parts (`src/foundation/log-file.ts`). */
import { closeSync, existsSync, fstatSync, openSync, readSync, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type LogPart, logParts, unfinishedPart } from '../../src/foundation/log-file.ts'

const chunkBytes = 1_024 * 1_024

const lineFeed = 10

/** A place in a log: an offset in the file, and the newest older part when it was read. */
export type LogPlace = { at: number; part: number }

/**
 * Returns the last `count` lines that `isWanted` accepts, the oldest first, and the place behind them.
 *
 * @throws as `node:fs` does when the file does not exist.
 */
export function lastLines(
  path: string,
  count: number,
  isWanted: (line: string) => boolean = () => true,
): { lines: string[]; place: LogPlace } {
  const parts = logParts(path)
  const found: string[] = []
  const collect = (file: number) => {
    const end = endOfLines(file)
    for (const line of linesBackwards(file, end)) {
      if (found.length >= count) break
      if (isWanted(line)) found.push(line)
    }
    return end
  }
  const at = withFile(path, collect)
  const part = newest(logParts(path))
  // A rotation has moved lines meanwhile.
  if (part !== newest(parts)) return lastLines(path, count, isWanted)
  for (const { path } of parts.toReversed()) if (found.length < count) withFile(path, collect)
  return { lines: found.toReversed(), place: { at, part } }
}

function newest(parts: readonly LogPart[]): number {
  return parts.at(-1)?.number ?? 0
}

/**
 * Calls `onLine` for each line behind a place, until the signal aborts. It continues in the parts that
 * rotations make, and in a file that someone has emptied.
 */
export function followLines(
  path: string,
  from: LogPlace,
  onLine: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const place = { ...from }
  const catchUp = () => {
    while (advance(path, place, onLine));
  }
  return new Promise((resolve, reject) => {
    const name = basename(path)
    const watcher = watch(dirname(path), { signal }, (_, changed) => {
      // Some systems do not name the file.
      if (changed === null || changed.startsWith(name)) attempt()
    })
    const attempt = () => {
      try {
        catchUp()
      } catch (error) {
        watcher.close()
        reject(error)
      }
    }
    watcher.on('close', resolve)
    watcher.on('error', (error) => (signal.aborted ? resolve() : reject(error)))
    attempt()
  })
}

/** Reads once, and moves the place. Returns true if there may be more to read. */
function advance(path: string, place: LogPlace, onLine: (line: string) => void): boolean {
  const next = logParts(path).find(({ number }) => number > place.part)
  if (next) {
    // The next part is the file as it was. Parts that are gone already cannot be read.
    const at = next.number === place.part + 1 ? place.at : 0
    withFile(next.path, (file) => print(readLines(file, at), onLine))
    Object.assign(place, { at: 0, part: next.number })
    return true
  }
  if (!existsSync(path)) return false
  const { size, read } = withFile(path, (file) => ({
    size: fstatSync(file).size,
    read: readLines(file, place.at),
  }))
  const isRotating = size < place.at && existsSync(unfinishedPart(path))
  // A rotation empties the file before it names the part: what was read may be of either side.
  if (logParts(path).some(({ number }) => number > place.part)) return true
  if (isRotating) return false
  if (size < place.at) {
    place.at = 0
    return true
  }
  print(read, onLine)
  place.at += read.length
  return read.length > 0
}

function print(read: Buffer, onLine: (line: string) => void): void {
  for (const line of read.toString().split('\n')) if (line !== '') onLine(line)
}

function readLines(file: number, from: number): Buffer {
  const { size } = fstatSync(file)
  const bytes = readAt(file, from, size)
  return bytes.subarray(0, bytes.lastIndexOf(lineFeed) + 1)
}

/** The offset behind the last whole line. */
function endOfLines(file: number): number {
  let to = fstatSync(file).size
  while (to > 0) {
    const from = Math.max(0, to - chunkBytes)
    const found = readAt(file, from, to).lastIndexOf(lineFeed)
    if (found !== -1) return from + found + 1
    to = from
  }
  return 0
}

function* linesBackwards(file: number, size: number): Generator<string> {
  let rest = Buffer.alloc(0)
  for (let to = size; to > 0;) {
    const from = Math.max(0, to - chunkBytes)
    const bytes = Buffer.concat([readAt(file, from, to), rest])
    const begin = from === 0 ? 0 : bytes.indexOf(lineFeed) + 1
    // Without a line feed, the line begins in an earlier chunk.
    const whole = from > 0 && begin === 0 ? bytes.length : begin
    yield* bytes
      .subarray(whole)
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .toReversed()
    rest = bytes.subarray(0, whole)
    to = from
  }
}

function readAt(file: number, from: number, to: number): Buffer {
  const buffer = Buffer.alloc(Math.max(to - from, 0))
  return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, from))
}

function withFile<Result>(path: string, use: (file: number) => Result): Result {
  const file = openSync(path, 'r')
  try {
    return use(file)
  } finally {
    closeSync(file)
  }
}
