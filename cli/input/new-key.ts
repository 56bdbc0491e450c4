/** Keys of tenants, made here or by the daemon: to be kept in a file, or shown this once. */
import { rmSync, writeFileSync } from 'node:fs'
import * as Flags from '@oclif/core/flags'
import { newApiKey } from '../../src/base/api-key.ts'
import { UsageError } from '../errors/usage.ts'
import { systemReason } from '../../src/base/system-reason.ts'

export const newKeyFlags = {
  'key-file': Flags.string({ description: 'write the key to this new file (0600) and do not show it' }),
}

/** A new key, in the file already where one is named. @throws {UsageError} when that cannot be written. */
export function makeKey(file: string | undefined): string {
  const key = newApiKey()
  if (file !== undefined) writeKey(file, `${key}\n`, 'wx')
  return key
}

/**
 * Has `make` make a key, and puts it into the file where one is named. The file is there before: a key that cannot be kept would let
 * nobody in.
 *
 * @throws {UsageError} when it cannot be written; and what `make` throws, and then there is no file.
 */
export async function keepKey<Made extends { apiKey: string }>(
  file: string | undefined,
  make: () => Promise<Made>,
): Promise<Made> {
  if (file === undefined) return make()
  writeKey(file, '', 'wx')
  try {
    const made = await make()
    writeKey(file, `${made.apiKey}\n`, 'w')
    return made
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  }
}

function writeKey(file: string, text: string, flag: 'w' | 'wx'): void {
  try {
    writeFileSync(file, text, { mode: 0o600, flag })
  } catch (error) {
    throw new UsageError(
      `--key-file: ${file} cannot be written: ${systemReason(error)}. It must be a new file.`,
    )
  }
}
