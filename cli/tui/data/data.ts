/** The data of the dashboard, and the daemon that it comes from. */
import type { Client } from '../../../daemon/client/client.ts'
import type { EventStream } from '../../../daemon/client/event-client.ts'
import { eventSubjects, type Topic } from '../../../src/events/subjects.ts'
import type { Answer } from '../../client/api.ts'
import type { Event } from '../../client/events.ts'
import type { Connection, CredentialRecord, Did, PresentationRecord } from '../../format/records.ts'

export type Daemon = {
  /** Calls an endpoint as the tenant. @throws {ProblemError} @throws {DaemonUnreachable} */
  call: Client
  /** Opens the tenant's events, from now on when no id is given. @throws {ProblemError} @throws {DaemonUnreachable} */
  open: (lastEventId: string | undefined, signal: AbortSignal) => Promise<EventStream>
}

export type { Connection, CredentialRecord, Did, Event, PresentationRecord }
export type Webhook = Answer<'GET /events/webhooks/{id}'>
export type Delivery = Answer<'GET /events/webhooks/{id}/deliveries'>['contents'][number]

/** Whether the events come: `away` while the daemon does not answer, `refused` while it answers that it will not. */
export type Link = { is: 'live' } | { is: 'away' } | { is: 'refused'; why: string }

/** All lists are oldest first. */
export type Data = {
  link: Link
  connections: readonly Connection[]
  credentials: readonly CredentialRecord[]
  proofs: readonly PresentationRecord[]
  dids: readonly Did[]
  webhooks: readonly Webhook[]
  /** The last attempts, newest first, by the id of the webhook. */
  deliveries: Readonly<Record<string, readonly Delivery[]>>
  events: readonly Event[]
  /** There are events, or were, that are older than those in `events`. */
  hasOlderEvents: boolean
}

export const nothing: Data = {
  link: { is: 'away' },
  connections: [],
  credentials: [],
  proofs: [],
  dids: [],
  webhooks: [],
  deliveries: {},
  events: [],
  hasOlderEvents: false,
}

/** How many events are kept. */
export const mostEvents = 1_000

/** The lists whose events carry the whole record, by topic. */
const lists = {
  connection: 'connections',
  credential: 'credentials',
  proof: 'proofs',
  did: 'dids',
} as const satisfies Partial<Record<Topic, keyof Data>>

/** The data after an event; one that was read from the log already is no news there. */
export function apply(data: Data, event: Event): Data {
  const isKnown = data.events.some(({ id }) => id === event.id)
  const events = isKnown ? data.events : [...data.events, event].slice(-mostEvents)
  const next = {
    ...data,
    events,
    hasOlderEvents: data.hasOlderEvents || (!isKnown && events.length === data.events.length),
  }
  const list = listOf(event)
  if (!list) return next
  return { ...next, [list]: put(data[list], eventSubjects[event.type].id, event.data) }
}

/** When a record changed last, as far as the events at hand tell. */
export function changedAt(id: string, { events }: Pick<Data, 'events'>): string | undefined {
  return events.findLast((event) => listOf(event) && event.data[eventSubjects[event.type].id] === id)?.ts
}

function listOf({ type, data }: Event): (typeof lists)[keyof typeof lists] | undefined {
  const { topic, id } = eventSubjects[type]
  // The data of a test event is no record.
  return topic in lists && typeof data[id] === 'string' ? lists[topic as keyof typeof lists] : undefined
}

function put(
  list: readonly Record<string, unknown>[],
  idName: string,
  record: Record<string, unknown>,
): readonly Record<string, unknown>[] {
  const place = list.findLastIndex((each) => each[idName] === record[idName])
  return place === -1 ? [...list, record] : list.with(place, record)
}
