/** The state of the user interface: pane, selection, filter, prompt and layout. It is immutable. */
import { explain, type Expiring } from '../../format/states.ts'
import type { Connection, CredentialRecord, Data, PresentationRecord } from '../data/data.ts'
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
  /** No frames, and words instead of symbols, for screen readers. */
  isPlain: boolean
  /** The earlier lines of the command line. */
  history: readonly string[]
  /** Epoch milliseconds, for ages. */
  now: number
}

export const start = (size: Size, now: number, isPlain = false): Ui => ({
  pane: 'connections',
  selected: {},
  filters: {},
  isZoomed: false,
  scroll: 0,
  prompt: undefined,
  notice: undefined,
  size,
  isPlain,
  history: [],
  now,
})

/** Returns the filtered items of a pane, newest first. */
export function shownIn(name: PaneName, data: Data, { filters }: Pick<Ui, 'filters'>): readonly unknown[] {
  const pane: Pane<unknown> = panes[name]
  const wanted = (filters[name] ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const items = pane.items(data).toReversed()
  if (wanted.length === 0) return items
  return items.filter((item) => {
    const text = `${pane.text(item)} ${stateOf(name, item) ?? ''}`.toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
}

/** Returns the state of a record, with its meaning. Undefined for other items. */
export function stateOf(pane: PaneName, item: unknown): string | undefined {
  const record = item as Expiring
  if (pane === 'connections') return explain('connection', (item as Connection).state, record)
  if (pane === 'credentials') return explain('credential', (item as CredentialRecord).protocolState, record)
  return pane === 'proofs' ? explain('proof', (item as PresentationRecord).status, record) : undefined
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

/**
 * Selects the item at an index, or the nearest one. The first item is selected by position, so that new items
 * are selected.
 */
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

/** From these widths on, the details are beside the list, and their timeline beside them. */
const wide = 120
const widest = 160

/** The smallest usable size. */
export const least: Size = { columns: 60, rows: 16 }

/** Lines of the header, the tabs and the keys. */
const others = 3

/** An area of the screen: its width with borders, and the lines and columns of its text. */
type Area = { width: number; height: number; text: number }

export type Layout = {
  /** The list; without lines while the details fill the screen. */
  list: Area
  details: Area
  /** The timeline of wide screens. */
  aside: Area | undefined
  isWide: boolean
  /** Lines of all areas, with their borders. */
  body: number
}

/** Returns the layout of a screen with a notice of `noticeLines` lines. */
export function layoutOf(
  { size: { columns, rows }, isZoomed, isPlain }: Pick<Ui, 'size' | 'isZoomed' | 'isPlain'>,
  noticeLines = 0,
): Layout {
  const body = rows - others - noticeLines
  // Without frames, an area has a heading and no other border.
  const lower = isPlain ? 0 : 1
  const area = (width: number, height: number, padding: number): Area => ({
    width,
    height,
    text: width - 2 * padding - (isPlain ? 0 : 2),
  })
  if (isZoomed) {
    const details = area(columns, body - 1 - lower, 1)
    return { list: area(columns, 0, 0), details, aside: undefined, isWide: false, body }
  }
  if (isPlain || columns < wide) {
    const content = body - 2 - lower
    const list = Math.round(content * 0.38)
    const areas = { list: area(columns, list, 0), details: area(columns, content - list, 1) }
    return { ...areas, aside: undefined, isWide: false, body }
  }
  const hasAside = columns >= widest
  const list = Math.floor(columns * (hasAside ? 0.36 : 0.4))
  const aside = hasAside ? Math.floor(columns * 0.28) : 0
  const height = body - 2
  return {
    list: area(list, height, 0),
    details: area(columns - list - aside, height, 1),
    aside: hasAside ? area(aside, height, 1) : undefined,
    isWide: true,
    body,
  }
}
