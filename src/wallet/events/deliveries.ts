/**
 * The queue of a webhook: its next event, and the outcome of an attempt.
 *
 * The queue is not stored. It consists of the events after the webhook's cursor; events of a replay come
 * before them, oldest first. Every attempt is logged in the transaction that moves the cursor.
 */
import { sql } from 'kysely'
import { steadyNow } from '../../foundation/clock.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { larger, numberAt, stringsOf } from '../../foundation/storage/sql.ts'
import { logAttempt, type Answer } from './delivery-log.ts'
import { toEventText, type EventRow, type EventText } from './event.ts'

/** Attempts to deliver an event, and the seconds between them, as in the Cloud Agent. */
export const attemptLimit = 3
export const attemptSpacing = 5

/**
 * Events that are read with the one that is due, so that a busy webhook needs one read for several
 * deliveries.
 */
const readAhead = 8

/**
 * An event for a webhook, with its sequence number in the log, the webhook's URL, and its sealed headers and
 * secrets. `following` are the next events of the queue, up to `readAhead`; `newest` is the sequence number
 * of the last event in the log.
 */
export type Delivery = {
  webhookId: string
  url: string
  headers: string
  secrets: string | null
  kind: 'automatic' | 'replay'
  attempts: number
  sequence: number
  event: EventText
  following: { sequence: number; event: EventText }[]
  newest: number
}

/** Webhooks to leave out, and by webhook id the accepted events whose cursor is not stored yet. */
export type DueDeliveryOptions = {
  now?: Date
  busy?: readonly string[]
  accepted?: ReadonlyMap<string, number>
}

/** By webhook id, how many events wait for it, and since when the first one has been in the log. */
type Waiting = ReadonlyMap<string, { count: number; since: number }>

/**
 * The next event of every webhook whose queue is not empty, and when the next rescheduled attempt is due, by
 * `steadyNow`.
 */
export async function dueDeliveries(
  db: Db,
  walletId: string,
  { now = new Date(steadyNow()), busy = [], accepted = new Map() }: DueDeliveryOptions = {},
): Promise<{ deliveries: Delivery[]; nextAt?: Date; waiting: Waiting }> {
  const deliveries: Delivery[] = []
  const waiting = new Map<string, { count: number; since: number }>()
  let nextAt: Date | undefined
  const { rows } = await findHeads(db, {
    busy: JSON.stringify(busy),
    accepted: JSON.stringify(Object.fromEntries(accepted)),
  })
  for (const { webhookId, url, headers, secrets, attempts, ...row } of rows) {
    const isReplay = row.replayAttempts !== null && row.replayDueAt !== null
    const dueAt = isReplay ? row.replayDueAt! : row.due_at
    // Sequence numbers have no gaps. Of a replay, only the next event is known here.
    const count = isReplay ? 1 : row.newest - row.sequence + 1
    waiting.set(webhookId, { count, since: Date.parse(row.ts) })
    if (isWaiting(dueAt, now)) {
      if (!nextAt || dueAt < nextAt.toISOString()) nextAt = new Date(dueAt)
      continue
    }
    const state = isReplay
      ? { kind: 'replay' as const, attempts: row.replayAttempts! }
      : { kind: 'automatic' as const, attempts }
    const { sequence, newest } = row
    const isLast = isReplay || sequence === newest
    const following = isLast ? [] : (await eventsAfter(db, { sequence })).rows
    const toSend = (each: EventRow) => ({ sequence: each.sequence, event: toEventText(each, walletId) })
    deliveries.push({
      webhookId,
      url,
      headers,
      secrets,
      ...state,
      ...toSend(row),
      following: following.map(toSend),
      newest,
    })
  }
  return { deliveries, ...(nextAt && { nextAt }), waiting }
}

/** Stores that the webhook accepted the event, unless the webhook was deleted meanwhile. */
export async function confirm(tx: Tx, delivery: Delivery, answer: Answer): Promise<void> {
  if (!(await removeFromQueue(tx, delivery))) return
  await logAttempt(tx, delivery, answer)
  const { webhookId, sequence, kind } = delivery
  if (kind === 'replay')
    await tx
      .deleteFrom('dead_letter')
      .where('webhook_id', '=', webhookId)
      .where('event_sequence', '=', sequence)
      .execute()
}

/**
 * Stores a failed attempt: reschedules it, or after the last one makes the event a dead letter and continues
 * with the next event.
 */
export async function fail(
  tx: Tx,
  delivery: Delivery,
  answer: Answer,
  now = new Date(steadyNow()),
): Promise<'retry' | 'dead letter'> {
  const { webhookId: webhook_id, sequence: event_sequence } = delivery
  const attempts = delivery.attempts + 1
  if (attempts < attemptLimit) {
    const isThere = await reschedule(tx, delivery, attempts, new Date(now.getTime() + attemptSpacing * 1_000))
    if (isThere) await logAttempt(tx, delivery, answer)
    return 'retry'
  }
  if (!(await removeFromQueue(tx, delivery))) return 'dead letter'
  const attempt = await logAttempt(tx, delivery, answer)
  await tx
    .insertInto('dead_letter')
    .values({ webhook_id, event_sequence, attempt })
    .onConflict((conflict) => conflict.columns(['webhook_id', 'event_sequence']).doUpdateSet({ attempt }))
    .execute()
  return 'dead letter'
}

/**
 * The webhooks that are not busy, each with the first event of its queue: the oldest of a replay, or the one
 * after the cursor.
 */
const findHeads = prepared((db: Db, { busy, accepted }: { busy: string; accepted: string }) => {
  const replayed = sql<number>`(select min(event_sequence) from redelivery where webhook_id = webhook.id)`
  const stored = sql<number>`webhook.cursor`
  const sent = sql<number>`coalesce(${numberAt(db, accepted, 'webhook.id')}, 0)`
  const cursor = larger(db, stored, sent)
  const next = sql<number>`(select min(sequence) from event where sequence > ${cursor})`
  return db
    .selectFrom('webhook')
    .innerJoin('event', (join) => join.on('event.sequence', '=', sql<number>`coalesce(${replayed}, ${next})`))
    .leftJoin('redelivery', (join) =>
      join
        .onRef('redelivery.webhook_id', '=', 'webhook.id')
        .onRef('redelivery.event_sequence', '=', 'event.sequence'),
    )
    .selectAll('event')
    .select(['webhook.id as webhookId', 'url', 'headers', 'secrets', 'webhook.attempts', 'webhook.due_at'])
    .select(sql<number>`(select max(sequence) from event)`.as('newest'))
    .select(['redelivery.attempts as replayAttempts', 'redelivery.due_at as replayDueAt'])
    .where('webhook.id', 'not in', stringsOf(db, busy))
})

const eventsAfter = prepared((db: Db, { sequence }: { sequence: number }) =>
  db.selectFrom('event').selectAll().where('sequence', '>', sequence).orderBy('sequence').limit(readAhead),
)

/** A due time beyond the spacing of attempts was written before the clock was set back. It counts as due. */
function isWaiting(dueAt: string, now: Date): boolean {
  return dueAt > now.toISOString() && Date.parse(dueAt) <= now.getTime() + attemptSpacing * 1_000
}

/** An acceptance may be stored after that of a later event. */
const setCursor = prepared((db: Db, { id, cursor }: { id: string; cursor: number }) =>
  db
    .updateTable('webhook')
    .set({ cursor: larger(db, sql<number>`cursor`, sql<number>`${cursor}`), attempts: 0 })
    .where('id', '=', id),
)

/** Removes the event from the webhook's queue. Returns whether it was in it. */
async function removeFromQueue(tx: Tx, { webhookId, sequence, kind }: Delivery): Promise<boolean> {
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

/** Reschedules the event to `dueAt`. Returns whether it was in the queue. */
async function reschedule(
  tx: Tx,
  { webhookId, sequence, kind }: Delivery,
  attempts: number,
  dueAt: Date,
): Promise<boolean> {
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
