/** What a pane is: a list of one kind, the details of each item, and what can be done with it. */
import type { Style } from '../../format/colour.ts'
import type { Action } from '../actions/action.ts'
import type { Data } from '../data/data.ts'
import type { Contents } from '../data/contents.ts'

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
