/** QR codes as images inside a terminal: the graphics protocol of kitty, OSC 1337 of iTerm2, and sixel (DEC). */
import { modulesOf, needs, tooLong, type Screen } from './draw.ts'
import { quietZone, toPng } from './files.ts'
import { askTerminal, type Ask } from './terminal-query.ts'

export type Protocol = 'kitty' | 'iterm2' | 'sixel'

/** The size of a character in pixels. */
type Cell = { width: number; height: number }

/** The graphics protocol of the terminal, and the size of its characters if the terminal reports it. */
export type Graphics = { protocol: Protocol; cell?: Cell }

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns how the terminal reads images, from its variables, or from its answer to a query (DA1: 4 stands for sixel).
 * Undefined if it reads none. Inside tmux, screen and zellij, the variables describe the terminal around them, which does not
 * get the image; they answer queries themselves.
 */
export async function findGraphics(
  env: Environment = process.env,
  ask: Ask = askTerminal,
): Promise<Graphics | undefined> {
  const { TERM = '', TERM_PROGRAM: program, LC_TERMINAL } = env
  if (TERM === 'dumb' || TERM === 'linux') return undefined
  const isNested = env['TMUX'] || env['STY'] || env['ZELLIJ'] || /^(?:tmux|screen)/.test(TERM)
  if (!isNested) {
    if (env['KITTY_WINDOW_ID'] || /^xterm-(?:kitty|ghostty)$/.test(TERM) || program === 'ghostty')
      return { protocol: 'kitty' }
    if (program === 'iTerm.app' || LC_TERMINAL === 'iTerm2' || program === 'WezTerm')
      return { protocol: 'iterm2' }
  }
  if (env['CI']) return undefined
  // `CSI 16 t` asks for the size of a character, `CSI c` for the attributes, which every terminal tells.
  // oxlint-disable-next-line no-control-regex
  const reply = await ask('\u001b[16t\u001b[c', /\u001b\[\?[\d;]*c/)
  // oxlint-disable-next-line no-control-regex
  const attributes = /\u001b\[\?([\d;]*)c/.exec(reply)?.[1]?.split(';') ?? []
  if (!attributes.includes('4')) return undefined
  // oxlint-disable-next-line no-control-regex
  const [, height = 0, width = 0] = (/\u001b\[6;(\d+);(\d+)t/.exec(reply) ?? []).map(Number)
  return { protocol: 'sixel', ...(width > 0 && height > 0 && { cell: { width, height } }) }
}

/** The size of a character where the terminal does not tell it: that of the VT340, which others imitate. */
const usualCell: Cell = { width: 10, height: 20 }

/** The fewest pixels of a module that a phone reads from a screen. */
const leastScale = 2

/**
 * Returns the text that makes the terminal show the code of a text, and its height in lines; the reason if it does not
 * fit the screen.
 */
export function drawImage(
  text: string,
  { protocol, cell = usualCell }: Graphics,
  { columns = Infinity, rows = Infinity, reserved = 0 }: Screen,
): { sequence: string; rows: number } | { reason: string } {
  const tooLongFor = tooLong(text)
  if (tooLongFor !== undefined) return { reason: tooLongFor }
  const modules = modulesOf(text, quietZone)
  const linesFor = (scale: number) => Math.ceil((modules.length * scale) / cell.height)
  const columnsFor = (scale: number) => Math.ceil((modules.length * scale) / cell.width)
  const fits = (scale: number) => linesFor(scale) + reserved <= rows && columnsFor(scale) <= columns
  // Three modules in a line is a comfortable size.
  let scale = Math.max(Math.round(cell.height / 3), leastScale)
  while (scale > leastScale && !fits(scale)) scale--
  if (!fits(scale)) return { reason: needs(columnsFor(scale), linesFor(scale) + reserved, { columns, rows }) }
  const lines = linesFor(scale)
  if (protocol === 'sixel') return { sequence: toSixel(modules, scale), rows: lines }
  const png = toPng(modules)
  return { sequence: protocol === 'kitty' ? toKitty(png, lines) : toIterm2(png, lines), rows: lines }
}

/** The longest part of base64 in one command (kitty graphics protocol, “Remote client”). */
const partLength = 4_096

/** Transmits and shows a PNG (`a=T`, `f=100`) in `rows` lines, with no answer (`q=2`). */
function toKitty(png: Buffer, rows: number): string {
  const parts = png.toString('base64').match(new RegExp(`.{1,${partLength}}`, 'g'))!
  return parts
    .map((part, at) => {
      const first = at === 0 ? `a=T,f=100,q=2,r=${rows},` : ''
      return `\u001b_G${first}m=${at < parts.length - 1 ? 1 : 0};${part}\u001b\\`
    })
    .join('')
}

/** OSC 1337 with a file that is shown in `rows` lines (iterm2.com/documentation-images.html). */
function toIterm2(png: Buffer, rows: number): string {
  return `\u001b]1337;File=inline=1;size=${png.length};height=${rows};width=auto;preserveAspectRatio=1:${png.toString('base64')}\u0007`
}

/** Lines of pixels in a band of sixels. */
const bandHeight = 6

/**
 * Encodes modules as sixels (DEC STD 070): colour 0 is black, 1 is white. A band has six lines of pixels; a character `?` plus
 * a number has a bit for each of them, the upper one first. `!n` repeats a character, `$` returns to the start of the band.
 */
function toSixel(modules: readonly (readonly boolean[])[], scale: number): string {
  const size = modules.length * scale
  const bands = Array.from({ length: Math.ceil(size / bandHeight) }, (_, band) => {
    const colours = [true, false].map((isBlack) => {
      const sixels = modules.map((_, x) => {
        let bits = 0
        for (let y = 0; y < bandHeight; y++)
          if (modules[Math.floor((band * bandHeight + y) / scale)]?.[x] === isBlack) bits |= 1 << y
        return String.fromCharCode(63 + bits)
      })
      const runs = sixels.join('').replaceAll(/(.)\1*/g, (run, sixel) => `!${run.length * scale}${sixel}`)
      return `#${isBlack ? 0 : 1}${runs}`
    })
    return colours.join('$')
  })
  return `\u001bP0;1;0q"1;1;${size};${size}#0;2;0;0;0#1;2;100;100;100${bands.join('-')}\u001b\\`
}
