/** Where a person is asked: at standard input and standard error, when both are a terminal. */
import type { Readable, Writable } from 'node:stream'
import { CommandError } from '../errors/errors.ts'

export type Terminal = {
  input: Readable & { isTTY?: boolean }
  output: Writable & { isTTY?: boolean; columns?: number }
}

export const here = (): Terminal => ({ input: process.stdin, output: process.stderr })

/** True when there is somebody to ask. */
export function isTerminal({ input, output } = here()): boolean {
  return Boolean(input.isTTY && output.isTTY)
}

/** What a question ends with on Ctrl-C. */
export function interrupted(): CommandError {
  return new CommandError('Interrupted; nothing is done.', 130)
}
