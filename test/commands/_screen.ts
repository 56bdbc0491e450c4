/**
 * Renders terminal output as an image: a cell is twice as high as wide, block characters fill their Unicode
 * areas.
 */

import xterm, { type IBufferCell } from '@xterm/headless'

/** An RGBA image: four bytes per pixel. */
export type Picture = { width: number; height: number; data: Uint8ClampedArray }

/** The default colours of a terminal. */
export const themes = { dark: { ink: 229, ground: 30 }, light: { ink: 20, ground: 250 } } as const
export type Theme = keyof typeof themes

/** Cells around the text. */
const border = 3

/** The filled quarters: 1 upper left, 2 upper right, 4 lower left, 8 lower right (Unicode, Block Elements). */
const blocks: Record<string, number> = Object.fromEntries(
  [...' ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█'].map((block, bits) => [block, bits]),
)

type Cell = { bits: number; ink: number; ground: number }

/**
 * Draws lines of block characters, `cell` pixels wide each. @throws for other characters, and for colours
 * outside the fixed palette.
 */
export function drawScreen(lines: readonly string[], theme: Theme, cellWidth: number): Picture {
  const rows = lines.map((line) => cellsOf(line, theme))
  const columns = Math.max(...rows.map((row) => row.length)) + 2 * border
  const [width, height] = [columns * cellWidth, (rows.length + 2 * border) * 2 * cellWidth]
  const blank = { bits: 0, ...themes[theme] }
  const data = new Uint8ClampedArray(width * height * 4)
  // Each half of a row of cells is one line of pixels, repeated.
  for (let half = 0; half < height / cellWidth; half++) {
    const row = rows[(half >> 1) - border] ?? []
    const line = new Uint8ClampedArray(width * 4).fill(255)
    for (let x = 0; x < width; x++) {
      const { bits, ink, ground } = row[Math.floor(x / cellWidth) - border] ?? blank
      const quarter = (x % cellWidth < cellWidth / 2 ? 1 : 2) << (half & 1 ? 2 : 0)
      line.fill(bits & quarter ? ink : ground, 4 * x, 4 * x + 3)
    }
    for (let n = 0; n < cellWidth; n++) data.set(line, 4 * width * (half * cellWidth + n))
  }
  return { width, height, data }
}

function cellsOf(line: string, theme: Theme): Cell[] {
  const cells: Cell[] = []
  let colours: { ink: number; ground: number } = { ...themes[theme] }
  // oxlint-disable-next-line no-control-regex
  for (const [token, codes] of line.matchAll(/\u001b\[([\d;]*)m|./gu)) {
    if (codes !== undefined) colours = dye(codes, colours, theme)
    else if (blocks[token] === undefined) throw new Error(`${JSON.stringify(token)} is not a block.`)
    else cells.push({ bits: blocks[token], ...colours })
  }
  return cells
}

/** The colours of Select Graphic Rendition (ECMA-48 §8.3.117). */
function dye(
  codes: string,
  before: { ink: number; ground: number },
  theme: Theme,
): { ink: number; ground: number } {
  let { ink, ground } = before
  const rest = codes.split(';').map(Number)
  while (rest.length > 0) {
    const code = rest.shift()
    if (code === 0) ({ ink, ground } = themes[theme])
    else if (code === 38) ink = shade(rest.splice(0, 2))
    else if (code === 48) ground = shade(rest.splice(0, 2))
    else if (code === 39) ({ ink } = themes[theme])
    else if (code === 49) ({ ground } = themes[theme])
    else throw new Error(`There is no colour ${code} that every theme shows alike.`)
  }
  return { ink, ground }
}

function shade([kind, index]: number[]): number {
  if (kind === 5 && index === 16) return 0
  if (kind === 5 && index === 231) return 255
  throw new Error(`Colour ${kind};${index} is neither black nor white.`)
}

/** A prompt that wraps in a terminal of any width. */
const longPrompt = (columns: number) => `${'user@machine:/folder/'.repeat(20).slice(0, columns + 10)}$ `

/**
 * Returns the lines that a terminal shows after a command that was typed at a long prompt, with the next
 * prompt below it. Characters other than blocks become noise.
 */
export async function visibleLines(
  output: string,
  { columns, rows }: { columns: number; rows: number },
): Promise<string[]> {
  const terminal = new xterm.Terminal({ cols: columns, rows, convertEol: true, allowProposedApi: true })
  const prompt = longPrompt(columns)
  await new Promise<void>((resolve) => terminal.write(`${prompt}agent\n${output}\n${prompt}`, resolve))
  const { baseY } = terminal.buffer.active
  return Array.from({ length: rows }, (_, row) => {
    const line = terminal.buffer.active.getLine(baseY + row)!
    return Array.from({ length: columns }, (_, column) => toAnsi(line.getCell(column)!)).join('')
  })
}

function toAnsi(cell: IBufferCell): string {
  const [ink, ground] = [cell.getFgColor(), cell.getBgColor()]
  const shown = cell.getChars() || ' '
  const isBlock = blocks[shown] !== undefined
  const colours = [
    cell.isFgPalette() && isBlock ? `38;5;${ink}` : '39',
    cell.isBgPalette() && isBlock ? `48;5;${ground}` : '49',
  ]
  return `\u001b[${colours.join(';')}m${isBlock ? shown : '▚'}`
}
