/** Events (service §2.9, §6): a log in the wallet's file that webhooks and streams read, each at its own pace. */
import { sql, type Selectable } from 'kysely'
import { z } from 'zod'
import { newId } from '../base/id.ts'
import type { Db, Tx } from '../storage/database.ts'
import { prepared } from '../storage/prepared.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import { eventSubjects, type EventName } from './subjects.ts'
import { noteChange, noteLogRow, prunedAtOnce } from '../storage/tx-context.ts'

export const EventType = z.enum(Object.keys(eventSubjects) as EventName[])
export type EventType = EventName

/** The envelope of an event, in the order of members that the real agent writes. */
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

/** An event's row. */
export type EventRow = Selectable<WalletTables['event']>

/** An event and its place in the log of its wallet. */
export type Placed = { sequence: number; event: Event }

/** Which events are meant: of a type, of a thread or a DID, or all. */
export type EventFilter = { type?: EventType | undefined; subject?: string | undefined }

const insertEvent = prepared((db: Db, { id, type, subject, data, ts }: Omit<EventRow, 'sequence'>) =>
  db
    .insertInto('event')
    .values({
      sequence: sql<number>`(select coalesce(max(sequence), 0) + 1 from event)`,
      id,
      type,
      subject,
      data,
      ts,
    })
    .returning('sequence'),
)

/** Writes an event down; `subject` is the thread or the DID that it is about. Returns its id. */
export async function appendEvent(
  tx: Tx,
  { type, subject, data }: { type: EventType; subject: string; data: object },
): Promise<string> {
  const id = newId()
  const ts = new Date().toISOString()
  const { rows } = await insertEvent(tx, { id, type, subject, data: JSON.stringify(data), ts })
  noteLogRow(tx, rows[0]!.sequence, pruneEvents)
  noteChange(tx, 'events')
  return id
}

/** The first events after a place in the log, oldest first. */
export async function eventsAfter(
  db: Db,
  walletId: string,
  sequence: number,
  limit: number,
  { type, subject }: EventFilter = {},
): Promise<Placed[]> {
  const rows = await db
    .selectFrom('event')
    .selectAll()
    .where('sequence', '>', sequence)
    .$if(type !== undefined, (query) => query.where('type', '=', type!))
    .$if(subject !== undefined, (query) => query.where('subject', '=', subject!))
    .orderBy('sequence')
    .limit(limit)
    .execute()
  return rows.map((row) => toPlaced(row, walletId))
}

/** An event's row as the event that it is. */
export function toPlaced({ sequence, type, id, ts, data }: EventRow, walletId: string): Placed {
  return { sequence, event: Event.parse({ type, id, ts, data: JSON.parse(data), walletId }) }
}

/** The event with an id; nothing when there is none, or none any more. */
export async function findEvent(db: Db, walletId: string, id: string): Promise<Placed | undefined> {
  const sequence = await findPlace(db, id)
  return sequence === undefined ? undefined : (await eventsAfter(db, walletId, sequence - 1, 1))[0]
}

/** The place of the event with an id. */
export async function findPlace(db: Db, id: string): Promise<number | undefined> {
  return (await db.selectFrom('event').select('sequence').where('id', '=', id).executeTakeFirst())?.sequence
}

/** The place of the newest event; 0 when there is none. */
export async function lastSequence(db: Db): Promise<number> {
  const { last } = await db
    .selectFrom('event')
    .select((eb) => eb.fn.max('sequence').as('last'))
    .executeTakeFirstOrThrow()
  return last ?? 0
}

/** The place of the last event that was made before an id of this process was (`newId`); 0 when there is none. */
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
 * Removes some of the oldest events, as far as they are older than `retention` seconds; with them goes what is known of their deliveries.
 *
 * What a webhook has not been told stays, and so does the newest event, so that no place in the log is given out twice.
 */
export async function pruneEvents(tx: Tx, retention: number, now = new Date()): Promise<void> {
  await deleteOldest(tx, { before: new Date(now.getTime() - retention * 1_000).toISOString() })
}
