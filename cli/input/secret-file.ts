/** Secrets, which are in a file or come by standard input, never in a flag: there other people's `ps` and one's own history show them. */
import { statSync } from 'node:fs'
import { UsageError } from '../errors/usage.ts'
import { readInput } from './file.ts'
import { systemReason } from '../../src/base/system-reason.ts'

/** Bits of a file's mode that let others than its owner read it. */
const readableByOthers = 0o044

/**
 * Reads a secret from the file at `path`, or from standard input for `-`; the newline at its end is taken off. `warn` is told when
 * others on this machine can read the file.
 *
 * @throws {UsageError} when it cannot be read or is empty; without the path, which may be the secret itself, typed by mistake.
 */
export function readSecretFile(flag: string, path: string, warn: (text: string) => void): string {
  let text: string
  try {
    text = readInput(path).replace(/\r?\n$/, '')
    if (path !== '-' && isReadableByOthers(path))
      warn(`--${flag}: others on this machine can read that file. Make it yours: chmod 600.`)
  } catch (error) {
    throw new UsageError(
      `--${flag}: that file cannot be read: ${systemReason(error)}. It takes the name of a file, or - for standard input.`,
    )
  }
  if (text === '') throw new UsageError(`--${flag}: it is empty.`)
  return text
}

function isReadableByOthers(path: string): boolean {
  const stat = statSync(path)
  // A pipe, such as the shell's `<(…)`, is nobody else's, and on Windows the mode says nothing.
  return stat.isFile() && process.platform !== 'win32' && (stat.mode & readableByOthers) !== 0
}
