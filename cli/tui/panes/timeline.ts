/** The events of a thread, one a line: when, how long after the one before, and what the record came to. */
import { stateOf } from '../../format/event.ts'
import { duration } from '../../format/time.ts'
import type { Event } from '../data/data.ts'
import type { Look, Section } from './pane.ts'

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
