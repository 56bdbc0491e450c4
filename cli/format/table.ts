/** Tables and lists of fields for a terminal. Cut to its width only when there is one: a pipe gets everything. */
import { plain, toStyled, type Styled } from './colour.ts'
import { pad, safeLine, shorten, widthOf } from './text.ts'

export type Column<Row> = {
  head: string
  of: (row: Row) => string | Styled | undefined
  /** May be cut when the terminal is narrow, at its end or in its middle; without it, never. */
  cut?: 'end' | 'middle'
  /** Is left out when the terminal is narrow and cutting does not help; the last such column first. */
  optional?: true
}

const gap = 2
const narrowest = 8

/**
 * Prints rows in columns under a heading. Where the columns do not fit into `width`, they are cut, then those that are
 * optional are left out; where even that does not help, each row becomes a list of fields. Without `width` nothing is cut. What is
 * styled is painted.
 */
export function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  width = Infinity,
  paint = plain,
): string {
  const cells = rows.map((row) => columns.map((column) => toCell(column.of(row) ?? '')))
  const natural = columns.map((column, index) =>
    Math.max(widthOf(column.head), ...cells.map((row) => widthOf(row[index]!.text))),
  )
  const widths = fit(columns, natural, width)
  if (widths) {
    const line = (row: readonly Cell[]) => {
      const last = row.findLastIndex(({ text }) => text !== '')
      return row
        .slice(0, last + 1)
        .map(({ style, text }, index) => {
          const cut = shorten(text, widths[index]!, columns[index]!.cut)
          const shown = style ? paint(style, cut) : cut
          return index === last ? shown : shown + pad('', widths[index]! - widthOf(cut))
        })
        .join(' '.repeat(gap))
    }
    const heads = columns.map(({ head }): Cell => ({ style: 'strong', text: head.toUpperCase() }))
    return [line(heads), ...cells.map(line)].join('\n')
  }
  const last = columns.findLastIndex(({ optional }) => optional)
  if (last !== -1) return table(rows, columns.toSpliced(last, 1), width, paint)
  const pairs = (row: Row) =>
    columns.map((column): [string, unknown] => [column.head.toLowerCase(), column.of(row)])
  return rows.map((row) => fields(pairs(row), width, paint)).join('\n\n')
}

/**
 * Prints names and values, one a line; names without a value are left out, long values are cut in the middle when there is a width, and
 * what is styled is painted.
 */
export function fields(
  pairs: readonly (readonly [name: string, value: unknown])[],
  width = Infinity,
  paint = plain,
): string {
  const shown = pairs.filter(([, value]) => value !== undefined && value !== null)
  const names = Math.max(...shown.map(([name]) => widthOf(name)))
  return shown
    .map(([name, value]) => {
      const { style, text } = toCell(value)
      const cut = shorten(text, Math.max(width - names - gap, narrowest), 'middle')
      return `${pad(name, names)}  ${style ? paint(style, cut) : cut}`
    })
    .join('\n')
}

type Cell = ReturnType<typeof toStyled>

function toCell(value: unknown): Cell {
  const { style, text } = toStyled(value)
  return { style, text: safeLine(text) }
}

/** Widths that fit, taken from the widest column that may be cut; nothing when they cannot be made to. */
function fit(
  columns: readonly Column<never>[],
  natural: readonly number[],
  width: number,
): number[] | undefined {
  const widths = [...natural]
  const total = () => widths.reduce((sum, each) => sum + each, gap * (widths.length - 1))
  while (total() > width) {
    const room = columns.map(({ cut }, index) => (cut && widths[index]! > narrowest ? widths[index]! : 0))
    const widest = Math.max(...room)
    if (widest === 0) return undefined
    widths[room.indexOf(widest)]! -= 1
  }
  return widths
}
