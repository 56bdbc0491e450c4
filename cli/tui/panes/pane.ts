/** A pane: its columns, details and actions. States and timelines are shared by several panes. */
import type { Style } from '../../format/colour.ts'
import type { Action, Run } from '../actions/action.ts'
import { changedAt, type Data, type Event } from '../data/data.ts'
import type { Contents } from '../data/contents.ts'
import { expiredWords, type Expiring, styleOf, styleOfRole, type Topic } from '../../format/states.ts'
import { ago, duration } from '../../format/time.ts'
import { stateOf } from '../../format/event.ts'

export const paneNames = ['connections', 'credentials', 'proofs', 'dids', 'webhooks', 'events'] as const
export type PaneName = (typeof paneNames)[number]

/** A styled part of a line. */
export type Piece = { text: string; style?: Style | undefined }

export type Column<Item> = {
  head: string
  /** The width in columns. `rest` takes the remaining width. */
  width: number | 'rest'
  of: (item: Item, data: Data, now: number) => Piece | string | undefined
  /** The smallest width of the list that shows this column. */
  from?: number
}

/** A name and a value, optionally styled (`inStyle`), or a whole line. */
export type Line = readonly [name: string, value: unknown] | Piece

/** A section of the details. */
export type Section = { head?: string; lines: readonly Line[] }

/** The context of the details. */
export type Look = { data: Data; now: number; contents: Contents }

export type Pane<Item> = {
  name: PaneName
  title: string
  items: (data: Data) => readonly Item[]
  id: (item: Item) => string
  /** The word for the id. */
  idName?: string
  columns: readonly Column<Item>[]
  /** The text that filters search. */
  text: (item: Item) => string
  sections: (item: Item, look: Look) => readonly Section[]
  /** The thread or the DID of the item's events. */
  thread?: (item: Item) => string | undefined
  /** True if the item waits for this side. */
  isMine?: (item: Item) => boolean
  /** The open invitation of an item. `url` is short if the agent has a short form of it. */
  invitation?: (item: Item) => Invitation | undefined
  /** The record that an item is about, and its pane. The item has its actions. */
  record?: (item: Item, data: Data) => { pane: Pane<any>; item: unknown } | undefined
  /** The actions of this pane alone. `actionsOf` adds those that several panes have. */
  actions: readonly Action<Item>[]
  remove?: Run<Item>
  /** The text of an empty list. */
  empty: string
}

export type Invitation = { title: string; url: string; longUrl: string }

/**
 * Returns an invitation with its short URL, or with its long one if the agent has no short one. Undefined if
 * there is none.
 */
export function toInvitation(
  title: string,
  invitation: { invitationUrl: string; shortUrl?: string | undefined } | undefined,
): Invitation | undefined {
  if (!invitation) return undefined
  const { invitationUrl: longUrl, shortUrl } = invitation
  return { title, url: shortUrl ?? longUrl, longUrl }
}

/** Returns a coloured state, or that the record has expired. `now` is in milliseconds. */
export function stateCell(topic: Topic, state: string, record: Expiring = {}, now = Date.now()): Piece {
  return { text: expiredWords(record, now) ?? state, style: styleOf(topic, state, record, now) }
}

export function roleCell(role: string): Piece {
  return { text: role, style: styleOfRole(role) }
}

/** Returns the age of the last change, from the record or its events. */
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

/** Returns the section of a thread's events, with the role if both sides are in this wallet. */
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

/** Returns the thread or the DID of an event. */
export function threadOf({ data }: Event): string | undefined {
  const about = data.thid ?? data.did
  return typeof about === 'string' ? about : undefined
}

/** Returns the time of day in UTC. */
export function timeOf(iso: string): string {
  return new Date(iso).toISOString().slice(11, 19)
}

function merge(older: readonly Event[], newer: readonly Event[]): readonly Event[] {
  const seen = new Set(newer.map(({ id }) => id))
  return [...older.filter(({ id }) => !seen.has(id)), ...newer]
}
