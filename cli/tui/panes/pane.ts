/** A pane: its columns, details and actions. States and timelines are shared by several panes. */
import type { Style } from '../../format/colour.ts'
import type { Action } from '../actions/action.ts'
import { changedAt, type Data, type Event } from '../data/data.ts'
import type { Contents } from '../data/contents.ts'
import { meanings, styleOf, type Topic } from '../../format/states.ts'
import { ago, duration } from '../../format/time.ts'
import { stateOf } from '../../format/event.ts'

export const paneNames = ['connections', 'credentials', 'proofs', 'dids', 'webhooks', 'events'] as const
export type PaneName = (typeof paneNames)[number]

/** A piece of a line, in the colours of the command line. */
export type Piece = { text: string; style?: Style | undefined }

export type Column<Item> = {
  head: string
  /** Columns of the terminal; what is left for the one that takes the rest. */
  width: number | 'rest'
  of: (item: Item, data: Data, now: number) => Piece | string | undefined
  /** Shown only where the list is at least so wide. */
  from?: number
}

/** A name and a value, which may have a style (`inStyle`), or a line of its own. */
export type Line = readonly [name: string, value: unknown] | Piece

/** A part of the details, under a heading. */
export type Section = { head?: string; lines: readonly Line[] }

/** What the details are made of beside the item. */
export type Look = { data: Data; now: number; contents: Contents }

export type Pane<Item> = {
  title: string
  items: (data: Data) => readonly Item[]
  id: (item: Item) => string
  columns: readonly Column<Item>[]
  /** What a filter looks into. */
  text: (item: Item) => string
  sections: (item: Item, look: Look) => readonly Section[]
  /** The thread, or the DID, that the item's events are about. */
  thread?: (item: Item) => string | undefined
  /** True when it is this side's turn. */
  isMine?: (item: Item) => boolean
  /** What can be done with the item as it is now. */
  actions: (item: Item) => readonly Action[]
  /** Why the list is empty, and what to do about it. */
  empty: string
}

/** True when the record waits for this side to act. */
export function isMine(topic: Topic, state: string): boolean {
  const { next, ends } = meanings[topic][state] ?? {}
  return next !== undefined && ends === undefined
}

/** A state in its colour, which is another one when it is this side's turn. */
export function stateCell(topic: Topic, state: string): Piece {
  return { text: state, style: isMine(topic, state) ? 'chosen' : styleOf(topic, state) }
}

/** How long ago a record changed: its own word, or that of its events. */
export function age(
  id: string,
  record: { createdAt?: string; updatedAt?: string | undefined },
  data: Data,
  now: number,
): Piece {
  const at = [record.updatedAt ?? record.createdAt, changedAt(id, data)]
    .filter((each) => each !== undefined)
    .toSorted()
    .at(-1)
  return { text: at === undefined ? '' : ago(at, now), style: 'faint' }
}

/** The section of a thread; with the role where the wallet is on both sides. */
export function timeline(thread: string | undefined, { data, contents }: Look): Section[] {
  if (thread === undefined) return []
  const known = data.events.filter((event) => threadOf(event) === thread)
  const events = merge(contents.events(thread), known)
  if (events.length === 0) return []
  const isBothSides = new Set(events.map(({ data }) => data.role)).size > 1
  const lines = events.map((event, index) => {
    const before = events[index - 1]
    const after =
      before === undefined ? '' : `+${duration(Math.max(Date.parse(event.ts) - Date.parse(before.ts), 0))}`
    const role = isBothSides && typeof event.data.role === 'string' ? ` (${event.data.role})` : ''
    return { text: `${timeOf(event.ts)}  ${after.padStart(9)}  ${stateOf(event) ?? event.type}${role}` }
  })
  return [{ head: 'timeline', lines }]
}

/** The thread, or the DID, that an event is about. */
export function threadOf({ data }: Event): string | undefined {
  const about = data.thid ?? data.did
  return typeof about === 'string' ? about : undefined
}

/** The time of day, in UTC as all other times are. */
export function timeOf(iso: string): string {
  return new Date(iso).toISOString().slice(11, 19)
}

function merge(older: readonly Event[], newer: readonly Event[]): readonly Event[] {
  const seen = new Set(newer.map(({ id }) => id))
  return [...older.filter(({ id }) => !seen.has(id)), ...newer]
}
