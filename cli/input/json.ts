/** JSON and secrets that a flag names: written out, in a file (`@path`), or on standard input (`@-`). */
import { jsonFault } from '../../src/base/json-fault.ts'
import { UsageError } from '../errors/usage.ts'
import { readInput } from './file.ts'
import { systemReason } from '../../src/base/system-reason.ts'

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
