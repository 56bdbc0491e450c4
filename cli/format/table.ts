/** Tables and lists of fields. A terminal gets them short and cut to its width, a pipe in full. */
import { inStyle, type Paint, plain, toStyled, type Styled } from './colour.ts'
import { canonicalDid } from '../../src/definitions/did-names.ts'
import { endsOfIds, pad, safeLine, shorten, shortenDids, widthOf } from './text.ts'

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
  /** A terminal shows the ends of the ids in the text, such as `…9a6a43`. */
  isId?: true
  /** Makes a text short for a terminal, such as a time without its year. */
  brief?: (text: string) => string
}

const gap = 2
/** The least widths of cut columns: while there are optional columns to drop, and without any. */
const comfortable = 12
const narrowest = 8
/** The widest cell in a pipe that the others of its column are padded to. */
const widestPadded = 120

/**
 * Prints rows in columns under a heading. For a terminal, ids are short. If the columns exceed `width`, it
 * cuts texts, then drops optional columns, cuts texts further, and finally prints each row as a list of
 * fields. Without `width` nothing is shortened or cut.
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
  if (width === Infinity) {
    const cells = cellsOf(rows, columns)
    return draw(columns, cells, widthsOf(columns, cells, widestPadded), paint, (text) => text)
  }
  let shown = columns.map((column) => toBrief(column, rows))
  for (;;) {
    const cells = cellsOf(rows, shown)
    const natural = widthsOf(shown, cells, Infinity)
    const last = shown.findLastIndex(({ optional }) => optional)
    const widths =
      fit(shown, natural, width, comfortable) ??
      (last === -1 ? fit(shown, natural, width, narrowest) : undefined)
    if (widths) return draw(shown, cells, widths, paint, shorten)
    if (last === -1) break
    shown = shown.toSpliced(last, 1)
  }
  const pairs = (row: Row) =>
    columns.map((column): [string, unknown] => [column.head.toLowerCase(), column.of(row)])
  return rows.map((row) => fields(pairs(row), width, paint)).join('\n\n')
}

/** Returns the column with what a terminal shows. */
function toBrief<Row>({ isId, brief, ...column }: Column<Row>, rows: readonly Row[]): Column<Row> {
  if (!brief && !isId) return { ...column, of: (row) => briefCell(column.of(row) ?? '') }
  const textOf = (row: Row) => toStyled(column.of(row) ?? '').text
  const short = brief ?? endsOfIds(rows.map(textOf))
  return { ...column, of: (row) => short(textOf(row)) }
}

function cellsOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): Cell[][] {
  return rows.map((row) => columns.map((column) => toCell(column.of(row) ?? '')))
}

/** Returns the width of each column. Wider cells than `most` do not count. */
function widthsOf(
  columns: readonly Column<never>[],
  rows: readonly (readonly Cell[])[],
  most: number,
): number[] {
  return columns.map(({ head }, index) =>
    rows.reduce((widest, row) => {
      const width = widthOf(row[index]!.text)
      return width > most ? widest : Math.max(widest, width)
    }, widthOf(head)),
  )
}

function draw(
  columns: readonly Column<never>[],
  rows: readonly (readonly Cell[])[],
  widths: readonly number[],
  paint: Paint,
  toFit: typeof shorten,
): string {
  const line = (row: readonly Cell[]) => {
    const last = row.findLastIndex(({ text }) => text !== '')
    return row
      .slice(0, last + 1)
      .map(({ style, text }, index) => {
        const cut = toFit(text, widths[index]!, columns[index]!.cut)
        const shown = style ? paint(style, cut) : cut
        return index === last ? shown : shown + ' '.repeat(Math.max(widths[index]! - widthOf(cut), 0))
      })
      .join(' '.repeat(gap))
  }
  const heads = columns.map(({ head }): Cell => ({ style: 'strong', text: head.toUpperCase() }))
  return [heads, ...rows].map(line).join('\n')
}

/**
 * Prints names and values, one per line. Omits names without a value, and cuts long values in the middle to
 * fit `width`, but not `own`, the id of what they are about.
 */
export function fields(
  pairs: readonly (readonly [name: string, value: unknown])[],
  width = Infinity,
  paint = plain,
  own?: string,
): string {
  const shown = pairs.filter(([, value]) => value !== undefined && value !== null)
  const names = Math.max(...shown.map(([name]) => widthOf(name)))
  return shown
    .map(([name, value]) => {
      const { style, text } = toCell(value)
      const isWhole = width === Infinity || text === own || canonicalDid(text) === own
      const cut = isWhole
        ? text
        : shorten(shortenDids(text), Math.max(width - names - gap, narrowest), 'middle')
      return `${pad(name, names)}  ${style ? paint(style, cut) : cut}`
    })
    .join('\n')
}

/** A cell for a terminal, with short DIDs. */
function briefCell(value: string | Styled): string | Styled {
  const { style, text } = toStyled(value)
  return style ? inStyle(style, shortenDids(text)) : shortenDids(text)
}

type Cell = ReturnType<typeof toStyled>

function toCell(value: unknown): Cell {
  const { style, text } = toStyled(value)
  return { style, text: safeLine(text) }
}

/**
 * Returns widths that fit, by narrowing the widest column that may be cut, to `least` at least. Undefined if
 * that is not possible.
 */
function fit(
  columns: readonly Column<never>[],
  natural: readonly number[],
  width: number,
  least: number,
): number[] | undefined {
  const widths = natural.map((each, index) => (columns[index]!.cut ? Math.min(each, width) : each))
  const total = () => widths.reduce((sum, each) => sum + each, gap * (widths.length - 1))
  while (total() > width) {
    const room = columns.map(({ cut }, index) => (cut && widths[index]! > least ? widths[index]! : 0))
    const widest = Math.max(...room)
    if (widest === 0) return undefined
    widths[room.indexOf(widest)]! -= 1
  }
  return widths
}
