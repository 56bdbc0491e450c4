/** The data of the dashboard, and the daemon that it comes from. */
import type { Client } from '../../../daemon/client/client.ts'
import type { EventStream } from '../../../daemon/client/event-client.ts'
import { eventSubjects, type Topic } from '../../../src/definitions/event-subjects.ts'
import type { Answer } from '../../client/api.ts'
import type { Event } from '../../client/events.ts'
import type { Connection, CredentialRecord, Did } from '../../format/records.ts'
import type { PresentationRecord } from '../../format/proofs.ts'

export type Daemon = {
  /** Calls an endpoint as the tenant. @throws {ProblemError} @throws {DaemonUnreachable} */
  call: Client
  /**
   * Opens the event stream after `lastEventId`, or from now on.
   *
   * @throws {ProblemError}
   * @throws {DaemonUnreachable}
   */
  open: (lastEventId: string | undefined, signal: AbortSignal) => Promise<EventStream>
}

export type { Connection, CredentialRecord, Did, Event, PresentationRecord }
export type Webhook = Answer<'GET /events/webhooks/{id}'>
export type Delivery = Answer<'GET /events/webhooks/{id}/deliveries'>['contents'][number]

/**
 * The state of the event stream: `away` while the daemon does not answer, `refused` while it rejects the
 * request.
 */
export type Link = { is: 'live' } | { is: 'away' } | { is: 'refused'; why: string }

/** All lists are oldest first. */
export type Data = {
  link: Link
  connections: readonly Connection[]
  /** The threads of records that were exchanged without a connection, as far as that is known. */
  unconnected: readonly string[]
  credentials: readonly CredentialRecord[]
  proofs: readonly PresentationRecord[]
  dids: readonly Did[]
  webhooks: readonly Webhook[]
  /** The last attempts, newest first, by the id of the webhook. */
  deliveries: Readonly<Record<string, readonly Delivery[]>>
  events: readonly Event[]
  /** True if older events than those in `events` exist or existed. */
  hasOlderEvents: boolean
}

export const emptyData: Data = {
  link: { is: 'away' },
  connections: [],
  unconnected: [],
  credentials: [],
  proofs: [],
  dids: [],
  webhooks: [],
  deliveries: {},
  events: [],
  hasOlderEvents: false,
}

/** The number of events in memory. */
export const maxEvents = 1_000

/** The lists whose events carry the whole record, by topic. */
const lists = {
  connection: 'connections',
  credential: 'credentials',
  proof: 'proofs',
  did: 'dids',
} as const satisfies Partial<Record<Topic, keyof Data>>

/** Returns the data after an event. An event that is already in the list does not change the list. */
export function apply(data: Data, event: Event): Data {
  const isKnown = data.events.some(({ id }) => id === event.id)
  const events = isKnown ? data.events : [...data.events, event].slice(-maxEvents)
  const next = {
    ...data,
    events,
    hasOlderEvents: data.hasOlderEvents || (!isKnown && events.length === data.events.length),
  }
  const list = listOf(event)
  if (!list) return next
  return { ...next, [list]: put(data[list], eventSubjects[event.type].id, event.data) }
}

/** Returns the time of the last event of a record in memory. */
export function changedAt(id: string, { events }: Pick<Data, 'events'>): string | undefined {
  return events.findLast((event) => listOf(event) && event.data[eventSubjects[event.type].id] === id)?.ts
}

function listOf({ type, data }: Event): (typeof lists)[keyof typeof lists] | undefined {
  const { topic, id } = eventSubjects[type]
  // Test events contain no record.
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
