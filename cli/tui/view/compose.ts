/** Composes lines of a fixed width: frames, columns beside each other, and boxes over a faint screen. */
import { safeLine, shorten, widthOf } from '../../format/text.ts'
import type { Piece } from '../panes/pane.ts'

/** A part of a line. `columns` is the width of a text with escape sequences of its own, such as a QR code. */
export type Part = Piece & { columns?: number; isCursor?: boolean }
export type Line = readonly Part[]

/** A titled part of a frame. `note` is at the right end of its upper border. */
export type Block = {
  title: string
  note?: string | undefined
  rows: readonly Line[]
  /** Lines without the borders. */
  height: number
  /** Blank columns at the left and right. */
  padding?: 0 | 1
  isActive?: boolean
}

/** Returns a line of exactly `width` columns. */
export function fit(line: Line, width: number): Part[] {
  const parts: Part[] = []
  let used = 0
  for (const part of line) {
    const text = part.columns === undefined ? shorten(safeLine(part.text), width - used) : part.text
    parts.push({ ...part, text })
    used += part.columns ?? widthOf(text)
  }
  return used < width ? [...parts, { text: ' '.repeat(width - used) }] : parts
}

/** Returns a line in one style over its whole width, such as the selected one. */
export function inOneStyle(line: Line, style: Piece['style']): Part[] {
  return line.map((part) => ({ ...part, style }))
}

/** Returns blocks below each other in one frame. Without frames each block has its title above it. */
export function framed(blocks: readonly Block[], width: number, isPlain: boolean): Line[] {
  if (isPlain) return blocks.flatMap((block) => [fit(heading(block), width), ...contentOf(block, width)])
  const rows = blocks.flatMap((block, index): Line[] => {
    const style = block.isActive ? 'chosen' : 'faint'
    const [left, right] = index === 0 ? ['┌', '┐'] : ['├', '┤']
    const side: Part = { text: '│', style }
    return [
      [{ text: left, style }, ...border(block, width - 2, style), { text: right, style }],
      ...contentOf(block, width - 2).map((line) => [side, ...line, side]),
    ]
  })
  const style = blocks.at(-1)!.isActive ? 'chosen' : 'faint'
  return [...rows, [{ text: `└${'─'.repeat(width - 2)}┘`, style }]]
}

function contentOf({ rows, height, padding = 0 }: Block, width: number): Line[] {
  const blank = { text: ' '.repeat(padding) }
  return Array.from({ length: height }, (_, index) =>
    fit([blank, ...fit(rows[index] ?? [], width - 2 * padding), blank], width),
  )
}

function heading({ title, note }: Block): Line {
  return [
    { text: `${title}:`, style: 'strong' },
    { text: note ? ` ${note}` : '', style: 'faint' },
  ]
}

function border({ title, note = '', isActive = false }: Block, width: number, style: Piece['style']): Part[] {
  const end = note === '' ? '' : ` ${note} ─`
  const name = title === '' ? '' : ` ${shorten(safeLine(title), Math.max(width - widthOf(end) - 4, 0))} `
  const rule = Math.max(width - 1 - widthOf(name) - widthOf(end), 0)
  return [
    { text: '─', style },
    { text: name, style: isActive ? 'strong' : style },
    { text: '─'.repeat(rule) + end, style },
  ]
}

/** Returns areas of the same height beside each other. */
export function beside(...areas: readonly (readonly Line[])[]): Line[] {
  return areas[0]!.map((_, row) => areas.flatMap((area) => area[row]!))
}

/** Returns a screen, faint, with a box of `width` columns in its middle. */
export function over(screen: readonly Line[], box: readonly Line[], width: number, columns: number): Line[] {
  const left = Math.max(Math.floor((columns - width) / 2), 0)
  const top = Math.max(Math.floor((screen.length - box.length) / 2), 0)
  return screen.map((line, row) => {
    const behind = inOneStyle(fit(line, columns), 'faint')
    const inside = box[row - top]
    return inside ? [...cut(behind, 0, left), ...inside, ...cut(behind, left + width, columns)] : behind
  })
}

/** Returns the columns from `from` to `to` of a line. Half of a wide character becomes a space. */
function cut(line: Line, from: number, to: number): Part[] {
  let at = 0
  return line.map((part) => {
    let text = ''
    for (const { segment } of new Intl.Segmenter().segment(part.text)) {
      const end = at + widthOf(segment)
      text +=
        at >= from && end <= to ? segment : ' '.repeat(Math.max(Math.min(end, to) - Math.max(at, from), 0))
      at = end
    }
    return { text, style: part.style }
  })
}

/** Returns the position of the cursor, from 0. Undefined if no part of the screen has it. */
export function cursorOf(screen: readonly Line[]): { row: number; column: number } | undefined {
  for (const [row, line] of screen.entries()) {
    const index = line.findIndex(({ isCursor }) => isCursor)
    if (index !== -1)
      return { row, column: line.slice(0, index).reduce((sum, { text }) => sum + widthOf(text), 0) }
  }
  return undefined
}
