/**
 * The checksums of a database file's pages: `<file>.sum`.
 *
 * SQLite notices when the structure of a file is damaged, and not when a letter of a text is another one. A page in the file changes only
 * when the log is copied into it; so the sums that it will have then are written, and on the disk, before that happens. At any moment a page
 * either has its sum, or is in the log, which has checksums of its own.
 *
 * They are no seal: who writes to the file can write them, too.
 */
import { closeSync, existsSync, fdatasyncSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { DamagedFileError } from './damaged-file-error.ts'
import { readLog, readLogEnd, type Log, type LogEnd } from './write-ahead-log.ts'

export type PageSums = {
  pageBytes: number
  /** CRC-32 of each page, the first one first; 0 for a page that was never written. */
  sums: Uint32Array
  /** How much of which log is in them. */
  until: LogEnd
}

/** Where the checksums of a file are. */
export function pageSumsPath(path: string): string {
  return `${path}.sum`
}

/**
 * Compares a file that nobody has open, and its log, with the checksums. Returns them, or nothing when it has none that are whole; then
 * SQLite's own check has to do.
 *
 * @throws {DamagedFileError}
 */
export async function examinePages(path: string): Promise<PageSums | undefined> {
  const known = readPageSums(path)
  if (known === undefined) return undefined
  const log = readLog(path)
  mustBeWhole(path, known, log)
  let page = 0
  for await (const sums of sumsOf(path, known.pageBytes))
    for (const sum of sums) {
      const expected = known.sums[page++] ?? 0
      if (expected !== 0 && sum !== expected && !log?.pages.has(page)) throw notAsWritten(path, `page ${page} of ${known.sums.length}`)
    }
  const missing = known.sums.findIndex((sum, index) => index >= page && sum !== 0 && !log?.pages.has(index + 1))
  if (missing !== -1) throw notAsWritten(path, `page ${missing + 1}, which is missing`)
  return known
}

/** Returns the checksums of a file that nobody has open, and that is sound and without a log, and writes them if there is room for them. */
export async function notePages(path: string): Promise<PageSums> {
  const pageBytes = await readPageBytes(path)
  const sums: number[] = []
  for await (const some of sumsOf(path, pageBytes)) sums.push(...some)
  const noted = { pageBytes, sums: Uint32Array.from(sums), until: { salt: '0'.repeat(16), frames: 0 } }
  try {
    writePageSums(path, noted)
  } catch {
    dropPageSums(path)
  }
  return noted
}

/** The checksums of a file once its log has been copied into it. */
export function withLog(known: PageSums, log: Log): PageSums {
  if (log.frames === 0) return known
  const sums = new Uint32Array(log.size)
  sums.set(known.sums.subarray(0, log.size))
  for (const [page, sum] of log.pages) if (page <= log.size) sums[page - 1] = sum
  return { pageBytes: known.pageBytes, sums, until: { salt: log.salt, frames: log.frames } }
}

/** Writes checksums; they are on the disk when this returns. A half of them, after a crash, counts as none. @throws when that is not possible. */
export function writePageSums(path: string, { pageBytes, sums, until }: PageSums): void {
  const body = Buffer.from(sums.buffer, sums.byteOffset, sums.byteLength)
  const head = `pages ${pageBytes} ${sums.length} ${until.salt} ${until.frames}`
  const bytes = Buffer.concat([Buffer.from(`${head} ${crc32(body, crc32(head))}\n`), body])
  const file = openSync(pageSumsPath(path), 'a+', 0o600)
  try {
    ftruncateSync(file)
    writeSync(file, bytes)
    fdatasyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Reads the checksums of a file; nothing when it has none that are whole. */
export function readPageSums(path: string): PageSums | undefined {
  const bytes = existsSync(pageSumsPath(path)) ? readFileSync(pageSumsPath(path)) : Buffer.alloc(0)
  const [line, head, pageBytes, count, salt, frames, sum] =
    /^(pages (\d+) (\d+) ([0-9a-f]{16}) (\d+)) (\d+)\n/.exec(bytes.toString('latin1', 0, 100)) ?? []
  if (line === undefined) return undefined
  const body = bytes.subarray(line.length)
  if (body.length !== Number(count) * 4 || crc32(body, crc32(head!)) !== Number(sum)) return undefined
  return {
    pageBytes: Number(pageBytes),
    sums: new Uint32Array(new Uint8Array(body).buffer),
    until: { salt: salt!, frames: Number(frames) },
  }
}

/** The first page of a database, as SQLite read it with its log, that is neither as it was written nor as the log has it. */
export function findChangedPage(image: Buffer, { pageBytes, sums }: PageSums, log: Log | undefined): number | undefined {
  for (let page = 1; page * pageBytes <= image.length; page++) {
    const expected = log?.pages.get(page) ?? sums[page - 1] ?? 0
    if (expected !== 0 && crc32(image.subarray((page - 1) * pageBytes, page * pageBytes)) !== expected) return page
  }
  return undefined
}

/** Forgets the checksums of a file. */
export function dropPageSums(path: string): void {
  rmSync(pageSumsPath(path), { force: true })
}

/** @throws {DamagedFileError} when something that was committed is neither in the file nor in its log. */
function mustBeWhole(path: string, { until }: PageSums, log: Log | undefined): void {
  const end = readLogEnd(path)
  if (!end || end.frames === 0 || (until.salt === end.salt && until.frames >= end.frames)) return
  // An index on the disk may be older than the log after a power loss; never newer.
  if (log === undefined) throw notAsWritten(path, 'its log')
  if (log.salt === end.salt && log.frames < end.frames) throw notAsWritten(path, `its log after frame ${log.frames} of ${end.frames}`)
}

function notAsWritten(path: string, what: string): DamagedFileError {
  return new DamagedFileError(path, `is not as it was written: ${what} (${pageSumsPath(path)})`)
}

/** From the file's header (sqlite.org/fileformat2.html §1.3.2). */
async function readPageBytes(path: string): Promise<number> {
  await using file = await open(path)
  const { buffer } = await file.read(Buffer.alloc(18), 0, 18, 0)
  const written = buffer.readUInt16BE(16)
  return written === 1 ? 65_536 : written
}

/** The checksum of each page of a file, in order, a megabyte's at a time. */
async function* sumsOf(path: string, pageBytes: number): AsyncGenerator<number[]> {
  await using file = await open(path)
  const chunk = Buffer.allocUnsafe(1_048_576)
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, null)
    if (bytesRead === 0) return
    const pages = Array.from({ length: Math.ceil(bytesRead / pageBytes) }, (_, index) => index * pageBytes)
    yield pages.map((at) => crc32(chunk.subarray(at, Math.min(at + pageBytes, bytesRead))))
  }
}
