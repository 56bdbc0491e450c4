/** Draws a QR code that is wholly visible in this terminal. */
import type { WriteStream } from 'node:tty'
import { drawQr, renderingsFor } from './draw.ts'
import type { QrOutput } from './flags.ts'

/** The lines of a shell prompt, which may wrap. */
const promptLines = 2

/** The size of a terminal that does not tell its size. */
const usual = { columns: 80, rows: 24 }

/** A code, and the lines that the terminal has for text below it. */
type Drawn = { code: string; columns: number; room: number }

/** Draws a text. Returns the reason if there is no code; an empty one if it is not worth a message. */
export function drawForTerminal(
  text: string,
  { size, isAsked }: Extract<QrOutput, { in: 'terminal' }>,
  stdout: Pick<WriteStream, 'isTTY' | 'columns' | 'rows'> = process.stdout,
): Drawn | { reason: string; isFinal: boolean } {
  const { isTTY } = stdout
  // A requested QR code is drawn in a pipe too, which has no size.
  const tried = renderingsFor(size, { isTTY: isTTY || isAsked })
  if ('reason' in tried) return { reason: isAsked ? tried.reason : '', isFinal: true }
  const columns = isTTY ? stdout.columns || usual.columns : Infinity
  const rows = isTTY ? stdout.rows || usual.rows : Infinity
  const qr = drawQr(text, { columns, rows, reserved: promptLines }, tried)
  if ('reason' in qr) return { ...qr, isFinal: false }
  return { code: qr.lines.join('\n'), columns, room: rows - qr.lines.length - promptLines }
}
