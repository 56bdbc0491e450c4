/** The state of the user interface: pane, selection, filter, prompt and layout. It is immutable. */
import type { Data } from '../data/data.ts'
import { connections } from '../panes/connections.ts'
import { credentials } from '../panes/credentials.ts'
import { dids } from '../panes/dids.ts'
import { events } from '../panes/events.ts'
import { paneNames, type Pane, type PaneName } from '../panes/pane.ts'
import { proofs } from '../panes/proofs.ts'
import { webhooks } from '../panes/webhooks.ts'
import type { Prompt } from './prompt.ts'

/** The panes by name. Only a pane knows the type of its items. */
export const panes: Readonly<Record<PaneName, Pane<any>>> = {
  connections,
  credentials,
  proofs,
  dids,
  webhooks,
  events,
}

export type Size = { columns: number; rows: number }

/** The progress or the result of an action, at the bottom. */
type Notice = { is: 'busy' | 'good' | 'bad'; text: string }

export type Ui = {
  pane: PaneName
  /** The ids of the selected items. Without an id the first item is selected. */
  selected: Readonly<Partial<Record<PaneName, string>>>
  filters: Readonly<Partial<Record<PaneName, string>>>
  /** The details fill the screen. */
  isZoomed: boolean
  /** The number of detail lines above the screen. */
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

/** Returns the filtered items of a pane, newest first. */
export function shownIn(name: PaneName, data: Data, { filters }: Pick<Ui, 'filters'>): readonly unknown[] {
  const pane: Pane<unknown> = panes[name]
  const wanted = (filters[name] ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const items = pane.items(data).toReversed()
  if (wanted.length === 0) return items
  return items.filter((item) => wanted.every((word) => pane.text(item).toLowerCase().includes(word)))
}

type Selection = { pane: Pane<unknown>; items: readonly unknown[]; index: number; item: unknown }

/** The selection in the current pane. In an empty list `item` is undefined and `index` is -1. */
export function selectionOf(data: Data, ui: Ui): Selection {
  const pane: Pane<unknown> = panes[ui.pane]
  const items = shownIn(ui.pane, data, ui)
  const wanted = ui.selected[ui.pane]
  const found = wanted === undefined ? 0 : items.findIndex((item) => pane.id(item) === wanted)
  const index = items.length === 0 ? -1 : Math.max(found, 0)
  return { pane, items, index, item: items[index] }
}

/** Selects the item at an index, or the nearest one. The first item is selected by position, so that new items are selected. */
export function select(data: Data, ui: Ui, index: number): Ui {
  const { pane, items } = selectionOf(data, ui)
  const nearest = Math.min(Math.max(index, 0), items.length - 1)
  const id = nearest > 0 ? pane.id(items[nearest]) : undefined
  return { ...ui, selected: { ...ui.selected, [ui.pane]: id }, scroll: 0 }
}

/** Opens a pane. */
export function goTo(ui: Ui, pane: PaneName): Ui {
  return { ...ui, pane, isZoomed: false, scroll: 0 }
}

/** Returns the pane `step` positions after this one. */
export function paneAfter(pane: PaneName, step: number): PaneName {
  return paneNames[(paneNames.indexOf(pane) + step + paneNames.length) % paneNames.length]!
}

/** Returns true for an empty wallet. */
export function isNew({ connections, credentials, proofs, dids }: Data): boolean {
  return [connections, credentials, proofs, dids].every((list) => list.length === 0)
}

/** From this width on, the details are beside the list. */
const wide = 120

/** The smallest usable size. */
export const least: Size = { columns: 60, rows: 16 }

/** Lines of the header, the tabs and the keys. */
const frame = 3

type Layout = {
  isWide: boolean
  /** Widths of the list and the details. */
  listColumns: number
  detailColumns: number
  /** Heights of the list and the details with their headings, and of both. */
  list: number
  details: number
  body: number
}

/** Returns the layout of a screen with a notice of `noticeLines` lines. */
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
