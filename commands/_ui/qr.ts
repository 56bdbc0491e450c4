/**
 * QR codes in a terminal, in half blocks: two modules to a character.
 *
 * The colours are given outright, white modules on a black ground from the fixed part of the 256-colour palette, so that
 * the code is the right way round in light and dark themes. A margin of two modules is added where the library draws one.
 */
import qrcode from 'qrcode-terminal'

const colours = '\u001b[38;5;231;48;5;16m'
const whiteOnDefault = '\u001b[38;5;231;49m'
const reset = '\u001b[0m'

export type Screen = { columns?: number | undefined; rows?: number | undefined }

/** The lines of a QR code, or the reason why there is none. Without a screen's size any size fits. */
export type Qr = { lines: string[] } | { reason: string }

/** Draws a text as a QR code of error correction level L. */
export function drawQr(text: string, { columns = Infinity, rows = Infinity }: Screen = {}): Qr {
  const drawn = generate(text)
  if (drawn === undefined) return { reason: `it is too long for a QR code (${text.length} characters)` }
  const [top, ...modules] = drawn.split('\n').filter((line) => line !== '')
  const width = top!.length + 2
  if (width > columns) return { reason: `its QR code needs ${width} columns and the terminal has ${columns}` }
  // The prompt takes a line as well; a code that scrolls cannot be scanned.
  if (modules.length + 3 > rows) return { reason: `its QR code needs ${modules.length + 3} lines and the terminal has ${rows}` }
  return {
    lines: [
      `${colours}${'█'.repeat(width)}${reset}`,
      ...modules.map((line) => `${colours}█${line}█${reset}`),
      `${whiteOnDefault}${'▀'.repeat(width)}${reset}`,
    ],
  }
}

function generate(text: string): string | undefined {
  let drawn: string | undefined
  try {
    qrcode.generate(text, { small: true }, (code) => (drawn = code))
  } catch {
    return undefined
  }
  return drawn
}
