/** Tables and lists of fields. A terminal gets them cut to its width, a pipe in full. */
import { plain, toStyled, type Styled } from './colour.ts'
import { pad, safeLine, shorten, widthOf } from './text.ts'

export type Column<Row> = {
  head: string
  of: (row: Row) => string | Styled | undefined
  /** Where to cut the text on a narrow terminal. Never cut by default. */
  cut?: 'end' | 'middle'
  /**
   * Drop the column on a narrow terminal if cutting is not enough, and if no row has a text. The last such
   * column goes first.
   */
  optional?: true
}

const gap = 2
const narrowest = 8

/**
 * Prints rows in columns under a heading. If the columns exceed `width`, it cuts texts, then drops optional
 * columns, and finally prints each row as a list of fields. Without `width` nothing is cut.
 */
export function table<Row>(
  rows: readonly Row[],
  possible: readonly Column<Row>[],
  width = Infinity,
  paint = plain,
): string {
  const columns = possible.filter(
    ({ optional, of }) => !optional || rows.some((row) => toCell(of(row) ?? '').text !== ''),
  )
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
 * Prints names and values, one per line. Omits names without a value, and cuts long values in the middle to
 * fit `width`.
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

/** Returns widths that fit, by narrowing the widest column that may be cut. Undefined if that is not possible. */
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
