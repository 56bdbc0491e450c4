/** Formats events. */
import { eventSubjects } from '../../src/definitions/event-subjects.ts'
import type { Event } from '../client/events.ts'
import type { Styled } from './colour.ts'
import { safeLine, shortId } from './text.ts'
import { meanings, listedState, type Topic } from './states.ts'
import type { Column } from './table.ts'
import { briefTime } from './time.ts'

export const eventColumns: Column<Event>[] = [
  { head: 'time', of: ({ ts }) => ts, brief: briefTime },
  { head: 'type', of: ({ type }) => type, cut: 'end' },
  { head: 'about', of: subjectOf, optional: true },
  { head: 'state', of: shownState },
  { head: 'id', of: ({ id }) => id, isId: true },
]

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

function shownState(event: Event): string | Styled | undefined {
  const [topic, state] = [recordTopicOf(event), stateOf(event)]
  return topic === undefined || state === undefined ? state : listedState(topic, state)
}

/** Returns the end of the thread id or of the DID. */
export function subjectOf({ data }: Event): string | undefined {
  if (typeof data.thid === 'string') return shortId(data.thid)
  return typeof data.did === 'string' ? `…${data.did.split(':').slice(0, 3).join(':').slice(-7)}` : undefined
}

/** The topic of the record that an event is about. Undefined for events about other subjects. */
export function recordTopicOf({ type }: Event): Topic | undefined {
  const { topic } = eventSubjects[type]
  return topic in meanings ? (topic as Topic) : undefined
}

/** The state in an event's data. A test event has none. */
export function stateOf({ type, data }: Event): string | undefined {
  const state = data[eventSubjects[type].state]
  return typeof state === 'string' ? state : data['test'] === true ? '(test)' : undefined
}
