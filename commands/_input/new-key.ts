/** Keys of tenants, made here: to be kept in a file, or shown this once. */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import * as Flags from '@oclif/core/flags'
import { UsageError } from '../_errors/usage.ts'

export const newKeyFlags = {
  'key-file': Flags.string({ description: 'write the key to this new file (0600) and do not show it' }),
}

/** A new key: 256 random bits in base64url, in the file already where one is named. @throws {UsageError} when that cannot be written. */
export function makeKey(file: string | undefined): string {
  const key = randomBytes(32).toString('base64url')
  if (file === undefined) return key
  try {
    writeFileSync(file, `${key}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw new UsageError(`--key-file: ${file} cannot be written (${(error as NodeJS.ErrnoException).code}). It must be a new file.`)
  }
  return key
}
