/** What the dashboard knows of the wallet, and how an event changes it. Nothing here is changed in place. */
import type { Answer } from '../../client/api.ts'
import type { Event } from '../../client/events.ts'
import type { Connection } from '../../format/connection.ts'
import type { Did } from '../../format/did.ts'
import type { CredentialRecord, PresentationRecord } from '../../format/records.ts'

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

/** The lists whose events carry the whole record, and the name of its id. */
const lists = {
  ConnectionUpdated: ['connections', 'connectionId'],
  IssueCredentialRecordUpdated: ['credentials', 'recordId'],
  PresentationUpdated: ['proofs', 'presentationId'],
  DIDStatusUpdated: ['dids', 'did'],
} as const

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
  const [name, idName] = list
  return { ...next, [name]: put(data[name], idName, event.data) }
}

/** When a record changed last, as far as the events at hand tell. */
export function changedAt(id: string, { events }: Pick<Data, 'events'>): string | undefined {
  return events.findLast((event) => {
    const list = listOf(event)
    return list && event.data[list[1]] === id
  })?.ts
}

function listOf({ type, data }: Event): (typeof lists)[keyof typeof lists] | undefined {
  const list = type in lists ? lists[type as keyof typeof lists] : undefined
  // The data of a test event is no record.
  return list && typeof data[list[1]] === 'string' ? list : undefined
}

function put(
  list: readonly Record<string, unknown>[],
  idName: string,
  record: Record<string, unknown>,
): readonly Record<string, unknown>[] {
  const place = list.findLastIndex((each) => each[idName] === record[idName])
  return place === -1 ? [...list, record] : list.with(place, record)
}
