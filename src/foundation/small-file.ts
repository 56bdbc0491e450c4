/** Reads files that a person or another program has written, with a limit. */
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { systemReason } from './system-reason.ts'

/** A file cannot be used. The message is a predicate such as `cannot be read: permission denied`. */
export class FileFault extends Error {
  override name = 'FileFault'
}

/** Permission bits that let other users read a file. */
const readableByOthers = 0o044

/**
 * Reads a regular file of at most `most` bytes. A pipe or a device, whose read may never end, is refused.
 *
 * @throws {FileFault}
 */
export function readSmallFile(path: string, most: number): Buffer {
  let file: number | undefined
  try {
    // Without O_NONBLOCK, opening a pipe waits for its writer. Windows has neither.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new FileFault(stat.isDirectory() ? 'is a folder' : 'is not a regular file')
    // Files in /proc have the size 0.
    const bytes = Buffer.alloc(most + 1)
    let length = 0
    for (let read = -1; read !== 0 && length <= most; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null)
    if (length > most) throw new FileFault(`has more than ${most} bytes`)
    return bytes.subarray(0, length)
  } catch (error) {
    if (error instanceof FileFault) throw error
    throw new FileFault(`cannot be read: ${systemReason(error)}`, { cause: error })
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Whether other users of this machine can read a file. On Windows the mode has no meaning. */
export function isOpenToOthers(path: string): boolean {
  if (process.platform === 'win32') return false
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & readableByOthers) !== 0
}
