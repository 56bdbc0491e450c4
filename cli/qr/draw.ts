/** QR codes as lines of characters (ISO/IEC 18004), with error correction level L, the smallest. */
import { encodeQR } from 'qr'
import qrcode from 'qrcode-terminal'

/** The longest text of a QR code (version 40), in bytes of UTF-8. */
const capacity = 2_953

/** Returns why a text has no QR code. Undefined if it has one. */
export function tooLong(text: string): string | undefined {
  const bytes = Buffer.byteLength(text)
  return bytes > capacity ? `the text is too long (${bytes} bytes, at most ${capacity})` : undefined
}

/** Returns the rows of the code of a text, true for black, with a quiet zone of `margin` modules. */
export function modulesOf(text: string, margin: number): boolean[][] {
  return encodeQR(text, 'raw', { ecc: 'low', encoding: 'byte', border: margin })
}

// Black and white of the 256 colours, which themes do not change.
const black = '\u001b[48;5;16m'
const white = '\u001b[48;5;231m'
const whiteOnBlack = '\u001b[38;5;231;48;5;16m'
const whiteOnDefault = '\u001b[38;5;231;49m'
const reset = '\u001b[0m'

/** The quiet zone in modules. */
const margin = 2

/** Renderings of a module: `large` as two spaces, `small` as half a character. */
const drawings = {
  large: (text: string) => modulesOf(text, margin).map((row) => `${bars(row)}${reset}`),
  small: drawSmall,
} satisfies Record<string, (text: string) => string[]>
export type Rendering = keyof typeof drawings

/** Columns and lines of a terminal; any number if undefined. `reserved` lines are needed for other text. */
export type Screen = { columns?: number | undefined; rows?: number | undefined; reserved?: number }

/** A QR code as coloured lines of `width` columns, or the reason why there is none. */
type Qr = { rendering: Rendering; lines: string[]; width: number } | { reason: string }

/** Draws a text with the first rendering that fits the screen. */
export function drawQr(
  text: string,
  { columns = Infinity, rows = Infinity, reserved = 0 }: Screen = {},
  tried: readonly Rendering[] = ['small'],
): Qr {
  const tooLongFor = tooLong(text)
  if (tooLongFor !== undefined) return { reason: tooLongFor }
  let least = ''
  for (const rendering of tried) {
    const lines = drawings[rendering](text)
    const width = withoutColours(lines[0]!).length
    const height = lines.length + reserved
    if (width <= columns && height <= rows) return { rendering, lines, width }
    least = `it needs ${width}×${height} characters, and there are ${columns}×${rows}`
  }
  return { reason: least }
}

/** Background colours need no font and leave no gap between lines. */
function bars(row: readonly boolean[]): string {
  return row.map((isBlack, x) => `${isBlack === row[x - 1] ? '' : isBlack ? black : white}  `).join('')
}

/** Draws two rows of modules in each line. */
function drawSmall(text: string): string[] {
  let drawn = ''
  // The library encodes characters as bytes.
  qrcode.generate(Buffer.from(text).toString('latin1'), { small: true }, (code) => (drawn = code))
  // The library draws a margin of one module, the upper one as half a line.
  const [top, ...modules] = drawn.split('\n').filter((line) => line !== '')
  const width = top!.length + margin
  return [
    `${whiteOnBlack}${'█'.repeat(width)}${reset}`,
    ...modules.map((line) => `${whiteOnBlack}█${line}█${reset}`),
    `${whiteOnDefault}${'▀'.repeat(width)}${reset}`,
  ]
}

// oxlint-disable-next-line no-control-regex
const withoutColours = (line: string) => line.replaceAll(/\u001b\[[\d;]*m/g, '')

type Terminal = { isTTY?: boolean }
type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the renderings that the terminal supports, best first: the requested one, or the smallest. Returns
 * the reason if there are none.
 */
export function renderingsFor(
  asked: 'small' | 'large',
  { isTTY }: Terminal = process.stdout,
  env: Environment = process.env,
): readonly Rendering[] | { reason: string } {
  if (!isTTY) return { reason: 'standard output is not a terminal' }
  if (env.TERM === 'dumb') return { reason: 'the terminal is dumb (TERM)' }
  // Other character sets have no half blocks.
  if (!isUtf8(env)) return ['large']
  return asked === 'large' ? ['large', 'small'] : ['small']
}

/** True for a locale of UTF-8. Where none is set, as in containers, the terminal is still one of today. */
export function isUtf8({ LC_ALL, LC_CTYPE, LANG }: Environment): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG
  return !locale || /utf-?8/i.test(locale)
}
