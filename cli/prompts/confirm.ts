/** Questions before what cannot be taken back. */
import { createInterface } from 'node:readline'
import { CommandError, UsageError } from '../errors/errors.ts'
import { here, interrupted, isTerminal } from './terminal.ts'

/**
 * Asks whether to go on. Without a terminal there is nobody to ask, and `--yes` has to be given.
 *
 * @throws {UsageError} without a terminal.
 * @throws {CommandError} when the answer is not yes (1), or Ctrl-C (130).
 */
export async function confirm(question: string, terminal = here()): Promise<void> {
  if (!isTerminal(terminal))
    throw new UsageError('This cannot be taken back, and there is no terminal to ask at: give --yes.')
  const lines = createInterface(terminal)
  try {
    const answer = await new Promise<string>((resolve, reject) => {
      lines.once('SIGINT', () => reject(interrupted()))
      lines.once('close', () => resolve(''))
      lines.question(`${question} [y/N] `, resolve)
    })
    if (!/^\s*y(es)?\s*$/i.test(answer)) throw new CommandError('Nothing is done.', 1)
  } finally {
    lines.close()
  }
}
