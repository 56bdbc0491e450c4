/** Questions before what cannot be taken back. */
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { CommandError, UsageError } from '../_errors/usage.ts'

type Terminal = { input: Readable & { isTTY?: boolean }; output: Writable & { isTTY?: boolean } }

/**
 * Asks whether to go on. Without a terminal there is nobody to ask, and `--yes` has to be given.
 *
 * @throws {UsageError} without a terminal.
 * @throws {CommandError} when the answer is not yes (1), or Ctrl-C (130).
 */
export async function confirm(
  question: string,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<void> {
  if (!input.isTTY || !output.isTTY) throw new UsageError('This cannot be taken back, and there is no terminal to ask at: give --yes.')
  const lines = createInterface({ input, output })
  try {
    const answer = await new Promise<string>((resolve, reject) => {
      lines.once('SIGINT', () => reject(new CommandError('Interrupted; nothing is done.', 130)))
      lines.once('close', () => resolve(''))
      lines.question(`${question} [y/N] `, resolve)
    })
    if (!/^\s*y(es)?\s*$/i.test(answer)) throw new CommandError('Nothing is done.', 1)
  } finally {
    lines.close()
  }
}
