/**
 * A webhook's lane: the event it is owed next, and what became of an attempt (service §6.3).
 *
 * Events that somebody asked for again stand in the same lane, oldest first, before what the webhook was not told yet. Every attempt is
 * written down in the transaction that moves the lane on.
 */
import { sql } from 'kysely'
import { steadyNow } from '../base/clock.ts'
import type { Db, Tx } from '../storage/database.ts'
import { prepared } from '../storage/prepared.ts'
import { logAttempt, type Answer } from './delivery.ts'
import { toPlaced, type Event } from './event.ts'

/** Attempts that an event gets, and the seconds between them (service §6.3). */
export const attemptLimit = 3
export const attemptSpacing = 5

/** A webhook with an event to deliver: where, sealed headers and secrets, the event and its place in the log. */
export type Delivery = {
  webhookId: string
  url: string
  headers: string
  secrets: string | null
  kind: 'automatic' | 'replay'
  attempts: number
  sequence: number
  event: Event
  /** Whether nothing is behind it in the lane. */
  isLast: boolean
}

/**
 * What every webhook that has waiting events is owed next, and when the next attempt put off is due. One event is read for each webhook,
 * however many wait; those of `busy` are left out.
 */
export async function dueDeliveries(
  db: Db,
  walletId: string,
  { now = new Date(steadyNow()), busy = [] }: { now?: Date; busy?: readonly string[] } = {},
): Promise<{ deliveries: Delivery[]; nextAt?: Date }> {
  const deliveries: Delivery[] = []
  let nextAt: Date | undefined
  for (const { dueAt, row, ...lane } of await heads(db, busy)) {
    if (!isPutOff(dueAt, now)) deliveries.push({ ...lane, ...toPlaced(row, walletId) })
    else if (!nextAt || dueAt < nextAt.toISOString()) nextAt = new Date(dueAt)
  }
  return { deliveries, ...(nextAt && { nextAt }) }
}

/** The event was taken: the webhook, if it is still there, moves on. */
export async function delivered(tx: Tx, delivery: Delivery, answer: Answer): Promise<void> {
  if (!(await moveOn(tx, delivery))) return
  await logAttempt(tx, delivery, answer)
  const { webhookId, sequence, kind } = delivery
  if (kind === 'replay')
    await tx.deleteFrom('dead_letter').where('webhook_id', '=', webhookId).where('event_sequence', '=', sequence).execute()
}

/** The event was not taken: another attempt later, or, after the last one, a dead letter and the next event. */
export async function failed(tx: Tx, delivery: Delivery, answer: Answer, now = new Date(steadyNow())): Promise<'again' | 'given up'> {
  const { webhookId: webhook_id, sequence: event_sequence } = delivery
  const attempts = delivery.attempts + 1
  if (attempts < attemptLimit) {
    const isThere = await putOff(tx, delivery, attempts, new Date(now.getTime() + attemptSpacing * 1_000))
    if (isThere) await logAttempt(tx, delivery, answer)
    return 'again'
  }
  // Who was deleted while the request was under way needs no letter.
  if (!(await moveOn(tx, delivery))) return 'given up'
  const attempt = await logAttempt(tx, delivery, answer)
  await tx
    .insertInto('dead_letter')
    .values({ webhook_id, event_sequence, attempt })
    .onConflict((conflict) => conflict.columns(['webhook_id', 'event_sequence']).doUpdateSet({ attempt }))
    .execute()
  return 'given up'
}

/** The first of every lane where something waits: the oldest event that was asked for again, or the one after the webhook's place. */
async function heads(db: Db, busy: readonly string[]) {
  const { rows } = await findHeads(db, { busy: JSON.stringify(busy) })
  return rows.map(({ webhookId, url, headers, secrets, attempts, due_at, attemptsAgain, dueAgain, newest, ...row }) => {
    const lane = { webhookId, url, headers, secrets, row }
    return attemptsAgain === null || dueAgain === null
      ? { ...lane, kind: 'automatic' as const, attempts, dueAt: due_at, isLast: newest === row.sequence }
      : { ...lane, kind: 'replay' as const, attempts: attemptsAgain, dueAt: dueAgain, isLast: false }
  })
}

const findHeads = prepared((db: Db, { busy }: { busy: string }) => {
  const again = sql<number>`(select min(event_sequence) from redelivery where webhook_id = webhook.id)`
  const next = sql<number>`(select min(sequence) from event where sequence > webhook.cursor)`
  const newest = sql<number>`(select max(sequence) from event)`
  return db
    .selectFrom('webhook')
    .innerJoin('event', (join) => join.on('event.sequence', '=', sql<number>`coalesce(${again}, ${next})`))
    .leftJoin('redelivery', (join) =>
      join.onRef('redelivery.webhook_id', '=', 'webhook.id').onRef('redelivery.event_sequence', '=', 'event.sequence'),
    )
    .selectAll('event')
    .select(['webhook.id as webhookId', 'url', 'headers', 'secrets', 'webhook.attempts', 'webhook.due_at'])
    .select(['redelivery.attempts as attemptsAgain', 'redelivery.due_at as dueAgain', newest.as('newest')])
    .where('webhook.id', 'not in', sql<string>`(select value from json_each(${busy}))`)
})

/** What is further away than an attempt is ever put off was written by another clock, and waits no longer. */
function isPutOff(dueAt: string, now: Date): boolean {
  return dueAt > now.toISOString() && Date.parse(dueAt) <= now.getTime() + attemptSpacing * 1_000
}

const setCursor = prepared((db: Db, { id, cursor }: { id: string; cursor: number }) =>
  db.updateTable('webhook').set({ cursor, attempts: 0 }).where('id', '=', id),
)

/** Takes the event out of the lane. Returns whether it was still there. */
async function moveOn(tx: Tx, { webhookId, sequence, kind }: Delivery): Promise<boolean> {
  if (kind === 'automatic') {
    const { numAffectedRows } = await setCursor(tx, { id: webhookId, cursor: sequence })
    return numAffectedRows === 1n
  }
  const { numDeletedRows } = await tx
    .deleteFrom('redelivery')
    .where('webhook_id', '=', webhookId)
    .where('event_sequence', '=', sequence)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

/** Leaves the event in the lane until `dueAt`. Returns whether it was still there. */
async function putOff(tx: Tx, { webhookId, sequence, kind }: Delivery, attempts: number, dueAt: Date): Promise<boolean> {
  const values = { attempts, due_at: dueAt.toISOString() }
  const { numUpdatedRows } =
    kind === 'automatic'
      ? await tx.updateTable('webhook').set(values).where('id', '=', webhookId).executeTakeFirst()
      : await tx
          .updateTable('redelivery')
          .set(values)
          .where('webhook_id', '=', webhookId)
          .where('event_sequence', '=', sequence)
          .executeTakeFirst()
  return numUpdatedRows === 1n
}
