/** Lays out cells in columns. */
import { pad, safeLine, shorten, widthOf } from '../../format/text.ts'
import type { Column, Piece } from '../panes/pane.ts'
import { wrap } from '../session/details.ts'
import type { Part } from './compose.ts'

const gap = 2
const narrowest = 10

type FittedColumn<Item> = { column: Column<Item>; width: number }

/** Returns the columns that fit, with their widths. */
export function fitColumns<Item>(columns: readonly Column<Item>[], width: number): FittedColumn<Item>[] {
  const shown = columns.filter(({ from = 0 }) => width >= from)
  const fixed = shown.reduce((sum, column) => sum + (column.width === 'rest' ? 0 : column.width + gap), 0)
  return shown.map((column) => ({
    column,
    width: column.width === 'rest' ? Math.max(width - fixed, narrowest) : column.width,
  }))
}

/** Pads or cuts a text to its column. DIDs and URLs are cut in the middle. */
export function cell({ text, style }: Piece, width: number, isLast: boolean): Piece {
  const line = safeLine(text)
  const short = shorten(line, width, /^(?:did|https?):/.test(line) ? 'middle' : 'end')
  return { text: isLast ? short : pad(short, width + gap), style }
}

/** Returns the end of a typed text that is too long. */
export function tail(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  const end = [...text].slice(-columns)
  while (widthOf(end.join('')) >= columns) end.shift()
  return `…${end.join('')}`
}

/** Breaks pieces into lines. A piece that is longer than a line is broken between words. */
export function flow(pieces: readonly Part[], columns: number): Part[][] {
  const lines: Part[][] = [[]]
  let used = 0
  for (const piece of pieces.flatMap((each) =>
    widthOf(each.text) <= columns ? [each] : wrap(each.text, columns).map((text) => ({ ...each, text })),
  )) {
    const width = widthOf(piece.text)
    if (used + width > columns && used > 0) {
      lines.push([])
      used = 0
    }
    lines.at(-1)!.push(piece)
    used += width
  }
  return lines
}
