/** Draws a QR code that is wholly visible in this terminal: as characters, or as an image where those do not fit. */
import type { WriteStream } from 'node:tty'
import { drawQr, renderingsFor } from './draw.ts'
import type { QrOutput } from './flags.ts'
import { drawImage, findGraphics } from './inline-image.ts'

/** The lines of a shell prompt, which may wrap. */
const promptLines = 2

/** The size of a terminal that does not tell its size. */
const usual = { columns: 80, rows: 24 }

/** A code, and the lines that the terminal has for text below it. */
type Drawn = { code: string; columns: number; room: number }

/** Draws a text. Returns the reason if there is no code; an empty one if it is not worth a message. */
export async function drawForTerminal(
  text: string,
  { size, isAsked }: Extract<QrOutput, { in: 'terminal' }>,
  stdout: Pick<WriteStream, 'isTTY' | 'columns' | 'rows'> = process.stdout,
): Promise<Drawn | { reason: string; isFinal: boolean }> {
  const { isTTY } = stdout
  // A requested QR code is drawn in a pipe too, which has no size. Images need the terminal.
  const tried = renderingsFor(size === 'large' ? size : 'small', {
    isTTY: isTTY || (isAsked && size !== 'image'),
  })
  if ('reason' in tried) return { reason: isAsked ? tried.reason : '', isFinal: true }
  const columns = isTTY ? stdout.columns || usual.columns : Infinity
  const rows = isTTY ? stdout.rows || usual.rows : Infinity
  const screen = { columns, rows, reserved: promptLines }
  const qr = size === 'image' ? undefined : drawQr(text, screen, tried)
  if (qr && 'lines' in qr)
    return { code: qr.lines.join('\n'), columns, room: rows - qr.lines.length - promptLines }
  if (qr?.isTooLong) return { reason: qr.reason, isFinal: false }
  const graphics = isTTY ? await findGraphics() : undefined
  const image = graphics && drawImage(text, graphics, screen)
  if (image && 'sequence' in image)
    return { code: image.sequence, columns, room: rows - image.rows - promptLines }
  return { reason: image?.reason ?? qr?.reason ?? 'this terminal shows no images', isFinal: false }
}
