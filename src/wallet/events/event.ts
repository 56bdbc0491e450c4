/** Events: a log in the wallet's file. Webhooks and streams read it from their own cursors. */
import { sql, type Selectable } from 'kysely'
import * as z from 'zod'
import { newId } from '../../foundation/id.ts'
import { noteCause } from '../../foundation/spans.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { changeAtCommit } from '../../foundation/storage/memory.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { nextSequence } from '../../foundation/storage/sql.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import { eventSubjects, type EventName } from '../../definitions/event-subjects.ts'
import { noteChange, noteCount, noteLogRow, prunedAtOnce } from '../../foundation/storage/tx-context.ts'
import { WebhookQueues } from './webhook-queues.ts'

export const eventTypes = Object.keys(eventSubjects) as EventName[]
export const EventType = z.enum(eventTypes)
export type EventType = EventName

/** The envelope of an event, with the members in the Cloud Agent's order. */
export const Event = z
  .object({
    type: EventType,
    id: z.uuid(),
    ts: z.iso.datetime(),
    data: z.looseObject({}),
    walletId: z.guid(),
  })
  .meta({ id: 'Event' })
export type Event = z.infer<typeof Event>

export type EventRow = Selectable<WalletTables['event']>

/** An event as a webhook gets it. `text` is its JSON text. */
export type EventText = Pick<Event, 'type' | 'id' | 'ts'> & { text: string }

/** An event and its sequence number in the wallet's log. */
export type LoggedEvent = { sequence: number; event: Event }

export type EventFilter = { type?: EventType | undefined; subject?: string | undefined }

const insertEvent = prepared((db: Db, { id, type, subject, data, ts }: Omit<EventRow, 'sequence'>) =>
  db
    .insertInto('event')
    .values({
      sequence: nextSequence('event'),
      id,
      type,
      subject,
      data,
      ts,
    })
    .returning('sequence'),
)

/** Appends an event to the log. `subject` is its thread or DID. Returns its id. */
export async function appendEvent(
  tx: Tx,
  { type, subject, data }: { type: EventType; subject: string; data: object },
): Promise<string> {
  const id = newId()
  const ts = new Date().toISOString()
  const row = { id, type, subject, data: JSON.stringify(data), ts }
  const { rows } = await insertEvent(tx, row)
  const { sequence } = rows[0]!
  changeAtCommit(tx, WebhookQueues, (queues) => queues.append({ sequence, ...row }))
  noteLogRow(tx, sequence, pruneEvents)
  noteChange(tx, 'events')
  noteCause(id)
  noteCount(tx, 'agent_events_total', { type })
  return id
}

/** The first events after a sequence number, oldest first. */
export function eventsAfter(
  db: Db,
  walletId: string,
  sequence: number,
  limit: number,
  filter: EventFilter = {},
): Promise<LoggedEvent[]> {
  return eventsFrom(db, walletId, { sequence, limit, offset: 0 }, filter)
}

/** Where a page begins: after an event, by its sequence number, and after `offset` more. */
type Place = {
  sequence: number | undefined
  limit: number
  offset: number
  order?: 'asc' | 'desc' | undefined
}

/** The events that follow a place, in the order of the log, or the newest first. */
export async function eventsFrom(
  db: Db,
  walletId: string,
  { sequence, limit, offset, order = 'asc' }: Place,
  { type, subject }: EventFilter = {},
): Promise<LoggedEvent[]> {
  const rows = await db
    .selectFrom('event')
    .selectAll()
    .$if(sequence !== undefined, (query) => query.where('sequence', order === 'asc' ? '>' : '<', sequence!))
    .$if(type !== undefined, (query) => query.where('type', '=', type!))
    .$if(subject !== undefined, (query) => query.where('subject', '=', subject!))
    .orderBy('sequence', order)
    .limit(limit)
    .offset(offset)
    .execute()
  return rows.map((row) => toLoggedEvent(row, walletId))
}

/** Reads an event's row. */
export function toLoggedEvent({ sequence, type, id, ts, data }: EventRow, walletId: string): LoggedEvent {
  return { sequence, event: Event.parse({ type, id, ts, data: JSON.parse(data), walletId }) }
}

const Head = Event.omit({ data: true })

/** Reads an event's row. The stored text of the data is neither parsed nor written again. */
export function toEventText(
  { data, ...row }: Pick<EventRow, 'type' | 'id' | 'ts' | 'data'>,
  walletId: string,
): EventText {
  const { type, id, ts } = Head.parse({ ...row, walletId })
  return {
    type,
    id,
    ts,
    text: `{"type":"${type}","id":"${id}","ts":"${ts}","data":${data},"walletId":"${walletId}"}`,
  }
}

export async function findEvent(db: Db, walletId: string, id: string): Promise<LoggedEvent | undefined> {
  const sequence = await findSequence(db, id)
  return sequence === undefined ? undefined : (await eventsAfter(db, walletId, sequence - 1, 1))[0]
}

export async function findSequence(db: Db, id: string): Promise<number | undefined> {
  return (await db.selectFrom('event').select('sequence').where('id', '=', id).executeTakeFirst())?.sequence
}

/** The sequence number of the newest event; 0 for an empty log. */
export async function lastSequence(db: Db): Promise<number> {
  const { last } = await db
    .selectFrom('event')
    .select((eb) => eb.fn.max('sequence').as('last'))
    .executeTakeFirstOrThrow()
  return last ?? 0
}

/** The sequence number of the last event before an id that this process generated (`newId`); 0 without one. */
export async function lastSequenceBefore(db: Db, id: string): Promise<number> {
  const before = await db
    .selectFrom('event')
    .select('sequence')
    .where('id', '<', id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return before?.sequence ?? 0
}

const deleteOldest = prepared((db: Db, { before }: { before: string }) =>
  db
    .deleteFrom('event')
    .where('sequence', '<', sql<number>`(select min(sequence) from event) + ${sql.lit(prunedAtOnce)}`)
    .where('sequence', '<', sql<number>`(select max(sequence) from event)`)
    .where(
      'sequence',
      '<=',
      sql<number>`coalesce((select min(cursor) from webhook), (select max(sequence) from event))`,
    )
    .where('ts', '<', before),
)

/**
 * Deletes some of the oldest events that are older than `retention` seconds, and their delivery logs. Returns
 * how many.
 *
 * Undelivered events stay, and so does the newest event, so that sequence numbers are not reused.
 */
export async function pruneEvents(tx: Tx, retention: number, now = new Date()): Promise<number> {
  const before = new Date(now.getTime() - retention * 1_000).toISOString()
  return Number((await deleteOldest(tx, { before })).numAffectedRows)
}

/** When the oldest event was logged that may be deleted. */
export async function findOldestEvent(db: Db): Promise<string | undefined> {
  const newest = db.selectFrom('event').select((eb) => eb.fn.max('sequence').as('sequence'))
  const older = db.selectFrom('event').select('ts').where('sequence', '<', newest)
  return (await older.orderBy('sequence').limit(1).executeTakeFirst())?.ts
}

/** The newest event, if it is older than `before`, and every webhook has got it. */
export function findNewestEvent(db: Db, before: string): Promise<EventRow | undefined> {
  const waiting = db
    .selectFrom('webhook')
    .select('id')
    .where('cursor', '<', sql<number>`event.sequence`)
  return db
    .selectFrom('event')
    .selectAll()
    .where('sequence', '=', (eb) => eb.selectFrom('event').select((e) => e.fn.max('sequence').as('sequence')))
    .where('ts', '<', before)
    .where((eb) => eb.not(eb.exists(waiting)))
    .executeTakeFirst()
}
