/** Events as a person reads them. */
import type { Event } from '../client/events.ts'
import type { Styled } from './colour.ts'
import { shortId } from './names.ts'
import { safeLine } from './safe.ts'
import { shortState, type Topic } from './states.ts'
import type { Column } from './table.ts'

/** The columns of a list of events. */
export const eventColumns: Column<Event>[] = [
  { head: 'time', of: ({ ts }) => ts },
  { head: 'type', of: ({ type }) => type },
  { head: 'about', of: subjectOf },
  { head: 'state', of: shownState },
  { head: 'id', of: ({ id }) => id },
]

/** An event in one line. */
export function eventLine(event: Event): string {
  return safeLine(
    [
      event.ts,
      event.type.padEnd(28),
      (subjectOf(event) ?? '').padEnd(8),
      stateOf(event) ?? '',
      event.id,
    ].join('  '),
  )
}

const topics: Partial<Record<Event['type'], Topic>> = {
  ConnectionUpdated: 'connection',
  IssueCredentialRecordUpdated: 'credential',
  PresentationUpdated: 'proof',
}

function shownState(event: Event): string | Styled | undefined {
  const [topic, state] = [topics[event.type], stateOf(event)]
  return topic === undefined || state === undefined ? state : shortState(topic, state)
}

/** The end of the thread's id, or of the DID, which tells it from others. */
export function subjectOf({ data }: Event): string | undefined {
  if (typeof data.thid === 'string') return shortId(data.thid)
  return typeof data.did === 'string' ? `…${data.did.split(':').slice(0, 3).join(':').slice(-7)}` : undefined
}

/** The state that something has come to, by its name in the resource (service §6.2); a test event has none. */
export function stateOf({ data }: Event): string | undefined {
  const state = data.state ?? data.protocolState ?? data.status
  return typeof state === 'string' ? state : data.test === true ? '(test)' : undefined
}
