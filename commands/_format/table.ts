/** Tables and lists of fields for a terminal. Cut to its width only when there is one: a pipe gets everything. */
import { safeLine } from './safe.ts'
import { pad, shorten, widthOf } from './width.ts'

export type Column<Row> = {
  head: string
  of: (row: Row) => string | undefined
  /** May be cut when the terminal is narrow, at its end or in its middle; without it, never. */
  cut?: 'end' | 'middle'
  /** Is left out when the terminal is narrow and cutting does not help; the last such column first. */
  optional?: true
}

const gap = 2
const narrowest = 8

/**
 * Prints rows in columns under a heading. Where the columns do not fit into `width`, they are cut, then those that are
 * optional are left out; where even that does not help, each row becomes a list of fields. Without `width` nothing is cut.
 */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], width = Infinity): string {
  const cells = rows.map((row) => columns.map((column) => safeLine(column.of(row) ?? '')))
  const natural = columns.map((column, index) => Math.max(widthOf(column.head), ...cells.map((row) => widthOf(row[index]!))))
  const widths = fit(columns, natural, width)
  if (widths) {
    const line = (row: readonly string[]) =>
      row
        .map((cell, index) => pad(shorten(cell, widths[index]!, columns[index]!.cut), widths[index]!))
        .join(' '.repeat(gap))
        .trimEnd()
    return [line(columns.map(({ head }) => head.toUpperCase())), ...cells.map(line)].join('\n')
  }
  const last = columns.findLastIndex(({ optional }) => optional)
  if (last !== -1) return table(rows, columns.toSpliced(last, 1), width)
  const pairs = (row: Row) => columns.map((column): [string, string | undefined] => [column.head.toLowerCase(), column.of(row)])
  return rows.map((row) => fields(pairs(row), width)).join('\n\n')
}

/** Prints names and values, one a line; names without a value are left out, long values are cut in the middle when there is a width. */
export function fields(pairs: readonly (readonly [name: string, value: unknown])[], width = Infinity): string {
  const shown = pairs.filter(([, value]) => value !== undefined && value !== null)
  const names = Math.max(...shown.map(([name]) => widthOf(name)))
  return shown
    .map(
      ([name, value]) =>
        `${pad(name, names)}  ${shorten(safeLine(typeof value === 'string' ? value : JSON.stringify(value)), Math.max(width - names - gap, narrowest), 'middle')}`,
    )
    .join('\n')
}

/** Widths that fit, taken from the widest column that may be cut; nothing when they cannot be made to. */
function fit(columns: readonly Column<never>[], natural: readonly number[], width: number): number[] | undefined {
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
