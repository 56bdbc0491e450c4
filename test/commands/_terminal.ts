/** A terminal that a test types into and reads from. */
import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import type { Terminal } from '../../cli/prompts/ask.ts'

export const keys = {
  enter: '\r',
  down: '\u001b[B',
  up: '\u001b[A',
  ctrlC: '\u0003',
  ctrlD: '\u0004',
} as const

/** `shows` waits for a text, `types` presses keys, `text` is the whole output without escape sequences. */
export type TestTerminal = Terminal & {
  shows: (text: string) => Promise<void>
  types: (...texts: string[]) => void
  text: () => string
}

export function newTerminal(): TestTerminal {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined })
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 60 })
  // A prompt ends its output stream, but a terminal of the process stays open.
  output.end = () => output
  let written = ''
  let seen = 0
  output.on('data', (chunk) => (written += String(chunk)))
  const text = () => stripVTControlCharacters(written)
  return {
    input,
    output,
    text,
    types: (...texts) => {
      seen = text().length
      for (const each of texts) input.write(each)
    },
    shows: async (wanted) => {
      for await (const _ of ticks()) {
        if (text().slice(seen).includes(wanted)) return
      }
    },
  }
}

async function* ticks() {
  for (;;) yield await new Promise((resolve) => setImmediate(resolve))
}
