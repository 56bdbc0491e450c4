/**
 * The checksum of a database file that nobody has open: `<file>.sum`, which is there from a good close to the next open.
 *
 * SQLite notices when the structure of a file is damaged, and not when a letter of a text is another one. After a crash there is no
 * checksum, and what SQLite notices has to do.
 */
import { createReadStream } from 'node:fs'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { DamagedFileError } from './damaged-file-error.ts'

/** Where the checksum of a file is. */
export function checksumPath(path: string): string {
  return `${path}.sum`
}

/** Writes the checksum of a file that has just been closed. Without it the file is as good; so a failure is none. */
export async function noteChecksum(path: string): Promise<void> {
  try {
    if (await hasLog(path)) return
    await writeFile(checksumPath(path), `${await checksumOf(path)}\n`, { mode: 0o600 })
  } catch {
    await rm(checksumPath(path), { force: true }).catch(() => undefined)
  }
}

/** Compares a file with its checksum, if it has one, and takes that away. Returns whether there was one. @throws {DamagedFileError} */
export async function takeChecksum(path: string): Promise<boolean> {
  const text = await readFile(checksumPath(path), 'utf8').catch(() => '')
  const [expected] = /^crc32:[0-9a-f]{8}:\d+(?=\n)/.exec(text) ?? []
  const isComparable = expected !== undefined && !(await hasLog(path))
  if (isComparable && (await checksumOf(path)) !== expected) {
    throw new DamagedFileError(path, `is not as it was when it was closed (${checksumPath(path)})`)
  }
  await rm(checksumPath(path), { force: true })
  return isComparable
}

/** Whether a part of the file's content is still in SQLite's log. */
async function hasLog(path: string): Promise<boolean> {
  return (await stat(`${path}-wal`).catch(() => ({ size: 0 }))).size > 0
}

async function checksumOf(path: string): Promise<string> {
  let [sum, size] = [0, 0]
  for await (const chunk of createReadStream(path, { highWaterMark: 1_048_576 }) as AsyncIterable<Buffer>) {
    sum = crc32(chunk, sum)
    size += chunk.length
  }
  return `crc32:${sum.toString(16).padStart(8, '0')}:${size}`
}
