/** Reads text and JSON from arguments, files and standard input; writes new files. */
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { jsonFault } from '../../src/base/json.ts'
import { systemReason } from '../../src/base/reason.ts'
import { UsageError } from '../errors/errors.ts'

/** How long a writer that has nothing to say yet is left alone. */
const patienceMs = 10

/** All of a file, or of standard input for `-`, as text in UTF-8. @throws when it cannot be read. */
export function readInput(path: string): string {
  return path === '-' ? readStandardInput() : readFileSync(path, 'utf8')
}

/** Whoever has touched `process.stdin`, as oclif does, has made it one that does not wait for a slow writer. So waiting is done here. */
function readStandardInput(): string {
  const chunks: Buffer[] = []
  for (;;) {
    const chunk = Buffer.alloc(65_536)
    try {
      const length = readSync(0, chunk)
      if (length === 0) return Buffer.concat(chunks).toString('utf8')
      chunks.push(chunk.subarray(0, length))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // On Windows, the end of a pipe.
      if (code === 'EOF') return Buffer.concat(chunks).toString('utf8')
      if (code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, patienceMs)
    }
  }
}

/** Reads `@path`, `@-` or the text itself. @throws {UsageError} naming the flag and the path, when there is no such file. */
export function readText(flag: string, value: string): string {
  if (!value.startsWith('@')) return value
  const path = value.slice(1)
  try {
    return readInput(path)
  } catch (error) {
    throw new UsageError(`--${flag}: the file ${path} cannot be read: ${systemReason(error)}.`)
  }
}

/** As `readText`, parsed: any JSON. @throws {UsageError} when it is none; of what is in a file, where a secret may be, it quotes nothing. */
export function readJson(flag: string, value: string): Json {
  return parse(flag, readText(flag, value), value.startsWith('@') ? jsonFault : quoteFault)
}

/** As `readJson`: a JSON object. @throws {UsageError} when it is no JSON object. */
export function readObject(flag: string, value: string): Record<string, Json> {
  const parsed = readJson(flag, value)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new UsageError(`--${flag} is not a JSON object such as {"name": "Alice"}.`)
  return parsed
}

/** A JSON value. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/** Parses what a flag says. @throws {UsageError} when it is no JSON. */
export function parse(flag: string, text: string, describe = quoteFault): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    throw new UsageError(`--${flag} is not JSON: ${describe(error)}.`)
  }
}

/** In the words of `JSON.parse`, which quote what the person has just typed. */
function quoteFault(error: unknown): string {
  return (error as Error).message
}

/**
 * Writes what `ask` gives to a new file (0600), beside it until it is whole. Returns how many bytes these are. Nothing is asked for when the
 * file cannot be written.
 *
 * @throws {UsageError} when it cannot be, or is there already; and what `ask`, or what it gives, throws.
 */
export async function writeNewFile(
  flag: string,
  path: string,
  ask: () => Promise<AsyncIterable<Uint8Array>>,
): Promise<number> {
  const partial = `${path}.${process.pid}.part`
  const refusing = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw new UsageError(
        `--${flag}: ${path} cannot be written: ${systemReason(error)}. It must be a new file, in a folder that there is.`,
      )
    }
  }
  // Held from the start: what took long to make must not find its place taken.
  refusing(() => closeSync(openSync(path, 'wx', 0o600)))
  let isWhole = false
  try {
    const file = refusing(() => openSync(partial, 'wx', 0o600))
    let length = 0
    try {
      for await (const piece of await ask()) {
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
