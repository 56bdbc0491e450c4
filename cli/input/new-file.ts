/** New files for what a daemon sends: whole or not there, for their owner alone, and in nobody's place. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { UsageError } from '../errors/usage.ts'
import { systemReason } from '../../src/base/system-reason.ts'

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
