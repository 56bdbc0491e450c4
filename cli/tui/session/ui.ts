/** The state of the user interface: pane, selection, filter, prompt and layout. It is immutable. */
import type { Data } from '../data/data.ts'
import { panes } from '../panes/index.ts'
import { paneNames, type Pane, type PaneName } from '../panes/pane.ts'
import type { Prompt } from './prompt.ts'

export type Size = { columns: number; rows: number }

/** What is said at the foot: how an action went, or what it is doing. */
export type Notice = { is: 'busy' | 'good' | 'bad'; text: string }

export type Ui = {
  pane: PaneName
  /** The ids of the selected items; where there is none, the first one is selected, whatever comes. */
  selected: Readonly<Partial<Record<PaneName, string>>>
  filters: Readonly<Partial<Record<PaneName, string>>>
  /** The details have the whole screen. */
  isZoomed: boolean
  /** Lines of the details that are above the screen. */
  scroll: number
  prompt: Prompt | undefined
  notice: Notice | undefined
  size: Size
  /** Epoch milliseconds, for ages. */
  now: number
}

export const start = (size: Size, now: number): Ui => ({
  pane: 'connections',
  selected: {},
  filters: {},
  isZoomed: false,
  scroll: 0,
  prompt: undefined,
  notice: undefined,
  size,
  now,
})

/** The items of a pane that its filter lets through, newest first. */
export function shownIn(name: PaneName, data: Data, { filters }: Pick<Ui, 'filters'>): readonly unknown[] {
  const pane: Pane<unknown> = panes[name]
  const wanted = (filters[name] ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const items = pane.items(data).toReversed()
  if (wanted.length === 0) return items
  return items.filter((item) => wanted.every((word) => pane.text(item).toLowerCase().includes(word)))
}

export type Selection = { pane: Pane<unknown>; items: readonly unknown[]; index: number; item: unknown }

/** What is selected in the pane that is shown; `item` is nothing, and `index` -1, where there is nothing. */
export function selectionOf(data: Data, ui: Ui): Selection {
  const pane: Pane<unknown> = panes[ui.pane]
  const items = shownIn(ui.pane, data, ui)
  const wanted = ui.selected[ui.pane]
  const found = wanted === undefined ? 0 : items.findIndex((item) => pane.id(item) === wanted)
  const index = items.length === 0 ? -1 : Math.max(found, 0)
  return { pane, items, index, item: items[index] }
}

/** Selects the item at an index, or the nearest there is. The first one is selected by its place: what is new comes into it. */
export function select(data: Data, ui: Ui, index: number): Ui {
  const { pane, items } = selectionOf(data, ui)
  const nearest = Math.min(Math.max(index, 0), items.length - 1)
  const id = nearest > 0 ? pane.id(items[nearest]) : undefined
  return { ...ui, selected: { ...ui.selected, [ui.pane]: id }, scroll: 0 }
}

/** Goes to another pane. */
export function goTo(ui: Ui, pane: PaneName): Ui {
  return { ...ui, pane, isZoomed: false, scroll: 0 }
}

/** The pane that is so many after this one. */
export function paneAfter(pane: PaneName, step: number): PaneName {
  return paneNames[(paneNames.indexOf(pane) + step + paneNames.length) % paneNames.length]!
}

/** True while there is nothing in the wallet that one could look at. */
export function isNew({ connections, credentials, proofs, dids }: Data): boolean {
  return [connections, credentials, proofs, dids].every((list) => list.length === 0)
}

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
