/** Reads the lines of a screen with a terminal emulator. */
// The package is CommonJS without named exports.
import xterm, { type IBufferCell, type Terminal } from '@xterm/headless'

export type Size = { columns: number; rows: number }

/** A part of a line in one style. Colours are `#` and six hexadecimal digits; undefined is the terminal's own. */
export type Run = {
  column: number
  text: string
  colour?: string
  ground?: string
  isBold: boolean
  isDim: boolean
}
export type Line = readonly Run[]

export function newScreen({ columns, rows }: Size): Terminal {
  return new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true })
}

export function write(screen: Terminal, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => screen.write(text, resolve))
}

/** The lines of a screen with its scrollback, or of the alternate screen. */
export function linesOf(screen: Terminal): Line[] {
  const { active } = screen.buffer
  return Array.from({ length: active.length }, (_, row) => {
    const line = active.getLine(row)!
    const runs: Run[] = []
    for (let column = 0; column < line.length; column++) {
      const cell = line.getCell(column)!
      if (cell.getWidth() === 0) continue
      const text = cell.getChars() || ' '
      const style = styleOf(cell)
      const last = runs.at(-1)
      if (last && styles.every((name) => last[name] === style[name])) last.text += text
      else runs.push({ column, text, ...style })
    }
    return runs.filter(({ text, ground }) => text.trim() !== '' || ground !== undefined)
  })
}

const styles = ['colour', 'ground', 'isBold', 'isDim'] as const

function styleOf(cell: IBufferCell): Pick<Run, (typeof styles)[number]> {
  const colour = colourOf(cell.isFgDefault(), cell.isFgRGB(), cell.getFgColor())
  const ground = colourOf(cell.isBgDefault(), cell.isBgRGB(), cell.getBgColor())
  const style = { isBold: cell.isBold() !== 0, isDim: cell.isDim() !== 0 }
  // Reverse video of default colours.
  const [text, behind] = cell.isInverse() ? [ground ?? dark, colour ?? light] : [colour, ground]
  return { ...(text && { colour: text }), ...(behind && { ground: behind }), ...style }
}

export const dark = '#0d1117'
export const light = '#d1d9e0'
/** The sixteen colours of terminals, chosen to be readable on `dark`. */
const sixteen = [
  '#484f58 #ff7b72 #3fb950 #d29922 #58a6ff #bc8cff #39c5cf #b1bac4',
  '#6e7681 #ffa198 #56d364 #e3b341 #79c0ff #d2a8ff #56d4dd #ffffff',
].flatMap((colours) => colours.split(' '))

function colourOf(isDefault: boolean, isRgb: boolean, value: number): string | undefined {
  if (isDefault) return undefined
  if (isRgb) return `#${value.toString(16).padStart(6, '0')}`
  if (value < 16) return sixteen[value]
  const grey = 8 + 10 * (value - 232)
  const part = (step: number) => [0, 95, 135, 175, 215, 255][Math.floor((value - 16) / step) % 6]!
  const parts = value >= 232 ? [grey, grey, grey] : [part(36), part(6), part(1)]
  return `#${Buffer.from(parts).toString('hex')}`
}
