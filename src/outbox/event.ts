/** Events (service §2.9, §6): a log in the wallet's file that webhooks read, each at its own pace. */
import { sql } from 'kysely'
import { z } from 'zod'
import { newId } from '../base/id.ts'
import type { Db, Tx } from '../storage/database.ts'

export const eventTypes = ['ConnectionUpdated', 'IssueCredentialRecordUpdated', 'PresentationUpdated', 'DIDStatusUpdated'] as const

/** The envelope of an event, in the order of members that the real agent writes. */
export const Event = z
  .object({
    type: z.enum(eventTypes),
    id: z.uuid(),
    ts: z.iso.datetime(),
    data: z.looseObject({}),
    walletId: z.guid(),
  })
  .meta({ id: 'Event' })
export type Event = z.infer<typeof Event>

/** Writes an event down; `subject` is the thread or the DID that it is about. */
export async function putEvent(tx: Tx, event: { type: string; subject: string; data: object }): Promise<void> {
  const { type, subject } = event
  await tx
    .insertInto('event')
    .values({
      sequence: sql<number>`(select coalesce(max(sequence), 0) + 1 from event)`,
      id: newId(),
      type,
      subject,
      data: JSON.stringify(event.data),
      ts: new Date().toISOString(),
    })
    .execute()
}

/** The first events after a place in the log, oldest first. */
export async function eventsAfter(
  db: Db,
  walletId: string,
  sequence: number,
  limit: number,
): Promise<{ sequence: number; event: Event }[]> {
  const rows = await db.selectFrom('event').selectAll().where('sequence', '>', sequence).orderBy('sequence').limit(limit).execute()
  return rows.map(({ sequence, type, id, ts, data }) => ({
    sequence,
    event: Event.parse({ type, id, ts, data: JSON.parse(data), walletId }),
  }))
}

/** The place of the newest event; 0 when there is none. */
export async function lastSequence(db: Db): Promise<number> {
  const { last } = await db
    .selectFrom('event')
    .select((eb) => eb.fn.max('sequence').as('last'))
    .executeTakeFirstOrThrow()
  return last ?? 0
}
