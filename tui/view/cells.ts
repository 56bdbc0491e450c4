/** Cells side by side, each as wide as its column. */
import { safeLine } from '../../commands/_format/safe.ts'
import { pad, shorten } from '../../commands/_format/width.ts'
import type { Column, Piece } from '../panes/pane.ts'

const gap = 2
const narrowest = 10

export type Laid<Item> = { column: Column<Item>; width: number }

/** The columns that a list so wide has, with their widths. */
export function lay<Item>(columns: readonly Column<Item>[], width: number): Laid<Item>[] {
  const shown = columns.filter(({ from = 0 }) => width >= from)
  const fixed = shown.reduce((sum, column) => sum + (column.width === 'rest' ? 0 : column.width + gap), 0)
  return shown.map((column) => ({ column, width: column.width === 'rest' ? Math.max(width - fixed, narrowest) : column.width }))
}

/** A text in its column, cut where its end matters less. */
export function cell({ text, style }: Piece, width: number, isLast: boolean): Piece {
  const line = safeLine(text)
  const short = shorten(line, width, /^(?:did|https?):/.test(line) ? 'middle' : 'end')
  return { text: isLast ? short : pad(short, width + gap), style }
}
