/** How the screen is divided. */
import type { Size } from './ui.ts'

/** From so many columns on, the details are beside the list. */
const wide = 120

/** What there must be, for anything to be read. */
export const least: Size = { columns: 60, rows: 16 }

/** Lines above the lists, and the line of keys. */
const frame = 3

export type Layout = {
  isWide: boolean
  /** Columns of the list and of the details. */
  listColumns: number
  detailColumns: number
  /** Lines of the list with its head, of the details with theirs, and of both. */
  list: number
  details: number
  body: number
}

/** Divides a screen of which `noticeLines` are taken by what is said at the foot. */
export function layoutOf(
  { size: { columns, rows }, isZoomed }: { size: Size; isZoomed: boolean },
  noticeLines = 1,
): Layout {
  const body = rows - frame - noticeLines
  const isWide = columns >= wide && !isZoomed
  const listColumns = isWide ? Math.floor(columns * 0.55) : columns
  const detailColumns = isWide ? columns - listColumns - 2 : columns
  const list = isZoomed ? 0 : isWide ? body : Math.floor(body * 0.36)
  return { isWide, listColumns, detailColumns, list, details: isWide ? body : body - list, body }
}
