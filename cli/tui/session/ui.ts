/** What the person looks at: pane, selection, filter, question. Nothing here is changed in place. */
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
