/**
 * The checksums of a database file's pages, and what they tell of the file.
 *
 * SQLite notices when the structure of a file is damaged, and not when a letter of a text is another one. A page in the file changes only
 * when the log is copied into it; so the sums that it will have then are written, and on the disk, before that happens. At any moment a page
 * either has its sum, or is in the log, which has checksums of its own.
 *
 * They are no seal: who writes to the file can write them, too.
 */
import { open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { DamagedFileError } from './damaged-file-error.ts'
import {
  dropPageSums,
  pageSumsPath,
  readPageSums,
  writePageSums,
  type NewPageSums,
  type PageSums,
  type PageSumsEnd,
} from './page-sums-file.ts'
import { readLog, readLogEnd, type Log } from './write-ahead-log.ts'

/**
 * Compares a file that nobody has open, and its log, with the checksums. Returns how far they go, or nothing when it has none that are whole;
 * then SQLite's own check has to do.
 *
 * @throws {DamagedFileError}
 */
export async function examinePages(path: string): Promise<PageSumsEnd | undefined> {
  const known = readPageSums(path)
  if (known === undefined) return undefined
  const log = readLog(path)
  mustBeWhole(path, known, log)
  let page = 0
  for await (const sums of sumsOf(path, known.pageBytes))
    for (const sum of sums) {
      const expected = known.sums[page++] ?? 0
      if (expected !== 0 && sum !== expected && !log?.pages.has(page))
        throw notAsWritten(path, `page ${page} of ${known.sums.length}`)
    }
  const missing = known.sums.findIndex(
    (sum, index) => index >= page && sum !== 0 && !log?.pages.has(index + 1),
  )
  if (missing !== -1) throw notAsWritten(path, `page ${missing + 1}, which is missing`)
  const { sums: _, ...end } = known
  return end
}

/** How far the checksums of a file go that has had no log yet. */
const beforeLog = { salt: '0'.repeat(16), frames: 0 }

/** Makes the checksums of a file that nobody has open, and that is sound and without a log, and writes them if there is room for them. */
export async function notePages(path: string): Promise<PageSumsEnd> {
  const pageBytes = await readPageBytes(path)
  const sums: number[] = []
  for await (const some of sumsOf(path, pageBytes)) sums.push(...some)
  const noted = { pageBytes, sums: Uint32Array.from(sums), until: beforeLog }
  try {
    return writePageSums(path, noted)
  } catch {
    dropPageSums(path)
    return { ...noted, pages: sums.length, bytes: 0, added: 0 }
  }
}

/** The checksums of all pages of a file that has no log, from its bytes. */
export function sumPages(image: Buffer): NewPageSums {
  const pageBytes = pageBytesOf(image)
  return { pageBytes, sums: Uint32Array.from(sumsIn(image, pageBytes)), until: beforeLog }
}

/** The first page of a database, as SQLite read it with its log, that is neither as it was written nor as the log has it. */
export function findChangedPage(
  image: Buffer,
  { pageBytes, sums }: PageSums,
  log: Log | undefined,
): number | undefined {
  for (let page = 1; page * pageBytes <= image.length; page++) {
    const expected = log?.pages.get(page) ?? sums[page - 1] ?? 0
    if (expected !== 0 && crc32(image.subarray((page - 1) * pageBytes, page * pageBytes)) !== expected)
      return page
  }
  return undefined
}

/** @throws {DamagedFileError} when something that was committed is neither in the file nor in its log. */
function mustBeWhole(path: string, { until }: PageSums, log: Log | undefined): void {
  const end = readLogEnd(path)
  if (!end || end.frames === 0 || (until.salt === end.salt && until.frames >= end.frames)) return
  // An index on the disk may be older than the log after a power loss; never newer.
  if (log === undefined) throw notAsWritten(path, 'its log')
  if (log.salt === end.salt && log.frames < end.frames)
    throw notAsWritten(path, `its log after frame ${log.frames} of ${end.frames}`)
}

function notAsWritten(path: string, what: string): DamagedFileError {
  return new DamagedFileError(path, `is not as it was written: ${what} (${pageSumsPath(path)})`)
}

/** From the file's header (sqlite.org/fileformat2.html §1.3.2). */
async function readPageBytes(path: string): Promise<number> {
  await using file = await open(path)
  const { buffer } = await file.read(Buffer.alloc(18), 0, 18, 0)
  return pageBytesOf(buffer)
}

function pageBytesOf(header: Buffer): number {
  const written = header.readUInt16BE(16)
  return written === 1 ? 65_536 : written
}

/** The checksum of each page of a file, in order, a megabyte's at a time. */
async function* sumsOf(path: string, pageBytes: number): AsyncGenerator<number[]> {
  await using file = await open(path)
  const { size } = await file.stat()
  const chunk = Buffer.allocUnsafe(Math.min(Math.max(size, pageBytes), 1_048_576))
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, null)
    if (bytesRead === 0) return
    yield sumsIn(chunk.subarray(0, bytesRead), pageBytes)
  }
}

function sumsIn(bytes: Buffer, pageBytes: number): number[] {
  const pages = Array.from({ length: Math.ceil(bytes.length / pageBytes) }, (_, index) => index * pageBytes)
  return pages.map((at) => crc32(bytes.subarray(at, at + pageBytes)))
}
