/** Reads text and JSON from arguments, files and standard input; writes new files. */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { jsonFault, withoutMark } from '../../src/foundation/json.ts'
import { systemReason } from '../../src/foundation/system-reason.ts'
import { UsageError } from '../errors/errors.ts'

/** The pause before the next read from a slow writer. */
const retryMs = 10

/** The most bytes that are read, unless a command needs less: a device or a pipe may never end. */
const maxInputBytes = 100_000_000

/**
 * Reads a file, or standard input for `-`, as UTF-8, without a byte order mark.
 *
 * @throws when it cannot be read, or is longer than `maxBytes`.
 */
export function readInput(path: string, maxBytes = maxInputBytes): string {
  return withoutMark(readInputBytes(path, maxBytes).toString('utf8'))
}

/** Reads a file, or standard input for `-`, as bytes. @throws as `readInput` */
export function readInputBytes(path: string, maxBytes = maxInputBytes): Buffer {
  if (path === '-') return readToEnd(0, maxBytes)
  const descriptor = openSync(path, 'r')
  try {
    return readToEnd(descriptor, maxBytes)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Reads a file or standard input to its end. oclif touches `process.stdin`, which makes the descriptor
 * non-blocking, so this function retries.
 */
function readToEnd(descriptor: number, maxBytes: number): Buffer {
  const chunks: Buffer[] = []
  let size = 0
  for (;;) {
    const chunk = Buffer.alloc(65_536)
    try {
      const length = readSync(descriptor, chunk)
      if (length === 0) return Buffer.concat(chunks)
      size += length
      if (size > maxBytes) throw new UsageError(`The input is longer than ${maxBytes / 1_000_000} MB.`)
      chunks.push(chunk.subarray(0, length))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // On Windows, the end of a pipe.
      if (code === 'EOF') return Buffer.concat(chunks)
      if (code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs)
    }
  }
}

/**
 * Reads `@path`, `@-` for standard input, or returns the text itself. @throws {UsageError} when the file
 * cannot be read, or is longer than `maxBytes`.
 */
export function readText(flag: string, value: string, maxBytes?: number): string {
  return value.startsWith('@') ? reading(flag, value.slice(1), (path) => readInput(path, maxBytes)) : value
}

/** As `readText`, for the bytes of a file, or those of the text in UTF-8. */
export function readBytes(flag: string, value: string, maxBytes = maxInputBytes): Buffer {
  if (!value.startsWith('@')) return Buffer.from(value, 'utf8')
  return reading(flag, value.slice(1), (path) => readInputBytes(path, maxBytes))
}

function reading<Content>(flag: string, path: string, read: (path: string) => Content): Content {
  try {
    return read(path)
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`--${flag}: ${error.message}`)
    throw new UsageError(`--${flag}: the file ${path} cannot be read: ${systemReason(error)}.`)
  }
}

/**
 * As `readText`, parsed as JSON. @throws {UsageError} when it is not JSON. The error quotes no content of a
 * file, which may hold a secret.
 */
export function readJson(flag: string, value: string): Json {
  return parse(flag, readText(flag, value), value.startsWith('@') ? jsonFault : quoteFault)
}

/** As `readJson`, for an object. @throws {UsageError} when it is not an object. */
export function readObject(flag: string, value: string): Record<string, Json> {
  const parsed = readJson(flag, value)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new UsageError(`--${flag} is not a JSON object such as {"name": "Alice"}.`)
  return parsed
}

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/** Parses JSON of a flag. @throws {UsageError} when it is not JSON. */
export function parse(flag: string, text: string, describe = quoteFault): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    throw new UsageError(`--${flag} is not JSON: ${describe(error)}.`)
  }
}

/** The message of `JSON.parse`, which quotes the text that the user has typed. */
function quoteFault(error: unknown): string {
  return (error as Error).message
}

/**
 * Checks that a file can be created, before a command has an effect: it does not exist, and its folder is
 * writable. Without a path, the working folder.
 *
 * @throws {UsageError} that names the flag.
 */
export function checkNewFile(flag: string, path: string | undefined): void {
  if (path !== undefined && existsSync(path))
    throw new UsageError(`--${flag}: the file ${path} exists. Choose another name, or remove it.`)
  const folder = dirname(path ?? '.')
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw new UsageError(
      `--${flag}: the folder ${folder} is not writable: ${systemReason(error)}. Choose another file.`,
    )
  }
}

/**
 * Writes the bytes of `read` to a new file (0600) and returns their number. The file appears when it is
 * complete. `read` is not called when the file cannot be created.
 *
 * @throws {UsageError} when the file exists or cannot be written. @throws as `read`.
 */
export async function writeNewFile(
  flag: string,
  path: string,
  read: () => Promise<AsyncIterable<Uint8Array>>,
): Promise<number> {
  const partial = `${path}.${process.pid}.part`
  const refusing = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw new UsageError(
        `--${flag}: ${path} cannot be written: ${systemReason(error)}. It must be a new file in an existing folder.`,
      )
    }
  }
  // Reserve the name first: a long download must not fail because the file has appeared in the meantime.
  refusing(() => closeSync(openSync(path, 'wx', 0o600)))
  let isWhole = false
  try {
    const file = refusing(() => openSync(partial, 'wx', 0o600))
    let length = 0
    try {
      for await (const piece of await read()) {
        refusing(() => writeFileSync(file, piece))
        length += piece.length
      }
      refusing(() => fsyncSync(file))
    } finally {
      closeSync(file)
    }
    renameSync(partial, path)
    isWhole = true
    return length
  } finally {
    rmSync(partial, { force: true })
    if (!isWhole) rmSync(path, { force: true })
  }
}
