/** Cells side by side, each as wide as its column. */
import { pad, safeLine, shorten, widthOf } from '../../format/text.ts'
import type { Column, Piece } from '../panes/pane.ts'
import { wrap, type Row } from '../session/details.ts'

const gap = 2
const narrowest = 10

export type Laid<Item> = { column: Column<Item>; width: number }

/** The columns that a list so wide has, with their widths. */
export function lay<Item>(columns: readonly Column<Item>[], width: number): Laid<Item>[] {
  const shown = columns.filter(({ from = 0 }) => width >= from)
  const fixed = shown.reduce((sum, column) => sum + (column.width === 'rest' ? 0 : column.width + gap), 0)
  return shown.map((column) => ({
    column,
    width: column.width === 'rest' ? Math.max(width - fixed, narrowest) : column.width,
  }))
}

/** A text in its column, cut where its end matters less. */
export function cell({ text, style }: Piece, width: number, isLast: boolean): Piece {
  const line = safeLine(text)
  const short = shorten(line, width, /^(?:did|https?):/.test(line) ? 'middle' : 'end')
  return { text: isLast ? short : pad(short, width + gap), style }
}

/** The end of a text that is being typed, where it is longer than its place. */
export function tail(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  const end = [...text].slice(-columns)
  while (widthOf(end.join('')) >= columns) end.shift()
  return `…${end.join('')}`
}

/** Pieces in lines: a piece that does not fit begins the next line, and one that is longer than a line is broken between its words. */
export function flow(pieces: readonly Piece[], columns: number): Row[] {
  const lines: Piece[][] = [[]]
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
