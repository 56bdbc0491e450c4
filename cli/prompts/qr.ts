/** QR codes in a terminal (ISO/IEC 18004), with error correction level L, the smallest. */
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

const black = '\u001b[48;5;16m'
const white = '\u001b[48;5;231m'
const whiteOnBlack = '\u001b[38;5;231;48;5;16m'
const whiteOnDefault = '\u001b[38;5;231;49m'
const reset = '\u001b[0m'

/** The quiet zone in modules. */
const margin = 2

/** Quarter blocks by their white quarters: 1 upper left, 2 upper right, 4 lower left, 8 lower right. */
const quarters = [...' ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█']

/** Renderings of a module: `large` as two spaces, `small` as half a character, `quadrants` as a quarter, twice as high as wide. */
const drawings = {
  large: (text: string) => modulesOf(text, margin).map((row) => `${bars(row)}${reset}`),
  small: drawSmall,
  quadrants: drawQuadrants,
} satisfies Record<string, (text: string) => string[]>
export type Rendering = keyof typeof drawings

/** The default renderings, best first. */
export const renderings: readonly Rendering[] = ['small', 'quadrants']

export type Screen = { columns?: number | undefined; rows?: number | undefined }

/** A QR code as coloured lines of `width` columns, or the reason why there is none. */
type Qr = { rendering: Rendering; lines: string[]; width: number } | { reason: string; isTooLong: boolean }

/** Draws a text with the first rendering that fits the screen. Any size fits a screen of unknown size. */
export function drawQr(
  text: string,
  { columns = Infinity, rows = Infinity }: Screen = {},
  tried: readonly Rendering[] = renderings,
): Qr {
  const tooLongFor = tooLong(text)
  if (tooLongFor !== undefined) return { reason: tooLongFor, isTooLong: true }
  let least = ''
  for (const rendering of tried) {
    const lines = drawings[rendering](text)
    const width = withoutColours(lines[0]!).length
    const missing = [
      ...(width > columns ? [`${width} columns (there are ${columns})`] : []),
      ...(lines.length > rows ? [`${lines.length} lines (there are ${rows})`] : []),
    ]
    if (missing.length === 0) return { rendering, lines, width }
    least = missing.join(' and ')
  }
  return { reason: `it needs ${least}`, isTooLong: false }
}

/** Background colours need no font and leave no gap between lines. */
function bars(row: readonly boolean[]): string {
  return row.map((isBlack, x) => `${isBlack === row[x - 1] ? '' : isBlack ? black : white}  `).join('')
}

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

function drawQuadrants(text: string): string[] {
  const modules = modulesOf(text, margin)
  const half = Math.ceil(modules.length / 2)
  // The number of modules is odd. The row after the last is white.
  const bit = (x: number, y: number, value: number) => (modules[y]?.[x] ? 0 : value)
  const quarter = (x: number, y: number) =>
    quarters[bit(x, y, 1) + bit(x + 1, y, 2) + bit(x, y + 1, 4) + bit(x + 1, y + 1, 8)]
  const line = (y: number) => Array.from({ length: half }, (_, x) => quarter(2 * x, 2 * y)).join('')
  return Array.from({ length: half }, (_, y) => `${whiteOnBlack}${line(y)}${reset}`)
}

// oxlint-disable-next-line no-control-regex
const withoutColours = (line: string) => line.replaceAll(/\u001b\[[\d;]*m/g, '')

type Terminal = { isTTY?: boolean }
type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the renderings that the terminal supports, best first: the requested one, or the smallest that every phone
 * reads. Returns the reason if there are none.
 */
export function renderingsFor(
  asked: 'small' | 'large',
  { isTTY }: Terminal = process.stdout,
  env: Environment = process.env,
): readonly Rendering[] | { reason: string } {
  if (!isTTY) return { reason: 'standard output is not a terminal' }
  if (env.TERM === 'dumb') return { reason: 'the terminal is dumb (TERM)' }
  const large: Rendering[] = asked === 'large' ? ['large'] : []
  const locale = otherLocale(env)
  if (locale !== undefined)
    return asked === 'large'
      ? large
      : { reason: `the locale ${locale} has no block characters; --qr large needs none` }
  // Linux's own console has the blocks of its font, which are halves and no quarters.
  return env.TERM === 'linux' ? [...large, 'small'] : [...large, 'small', 'quadrants']
}

/** The locale when it is not one of UTF-8. Where none is set, as in containers, the terminal is still one of today. */
function otherLocale({ LC_ALL, LC_CTYPE, LANG }: Environment): string | undefined {
  const locale = LC_ALL || LC_CTYPE || LANG
  return locale && !/utf-?8/i.test(locale) ? locale : undefined
}
