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
import { larger, stringsOf } from '../../foundation/storage/sql.ts'
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
  const { rows: webhooks } = await findWebhooks(db, { busy: JSON.stringify(busy) })
  for (const webhook of webhooks) {
    const head = await headOf(db, webhook, accepted)
    if (!head) continue
    const [{ sequence, ts }] = head.events
    const newest = webhook.newest!
    // Sequence numbers have no gaps. Of a replay, only the next event is known here.
    const count = head.kind === 'replay' ? 1 : newest - sequence + 1
    const { webhookId, url, headers, secrets } = webhook
    waiting.set(webhookId, { count, since: Date.parse(ts) })
    if (isWaiting(head.dueAt, now)) {
      if (!nextAt || head.dueAt < nextAt.toISOString()) nextAt = new Date(head.dueAt)
      continue
    }
    const toSend = (each: EventRow) => ({ sequence: each.sequence, event: toEventText(each, walletId) })
    const [first, ...following] = head.events.map(toSend)
    const { kind, attempts } = head
    deliveries.push({ webhookId, url, headers, secrets, kind, attempts, ...first!, following, newest })
  }
  return { deliveries, ...(nextAt && { nextAt }), waiting }
}

/** The first event of a webhook's queue, those after it, the failed attempts, and when the next one is due. */
type Head = {
  kind: 'automatic' | 'replay'
  attempts: number
  dueAt: string
  events: [EventRow, ...EventRow[]]
}

/** The oldest event of a replay, or those after the cursor. Undefined if the queue is empty. */
async function headOf(
  db: Db,
  { webhookId, cursor, newest, replayed, attempts, due_at: dueAt }: WebhookRow,
  accepted: ReadonlyMap<string, number>,
): Promise<Head | undefined> {
  if (replayed !== null) {
    const { rows } = await findReplayed(db, { webhookId, sequence: replayed })
    const [row] = rows
    return row && { kind: 'replay', attempts: row.replayAttempts, dueAt: row.replayDueAt, events: [row] }
  }
  const sequence = Math.max(cursor, accepted.get(webhookId) ?? 0)
  if (newest === null || sequence >= newest) return undefined
  const { rows } = await eventsAfter(db, { sequence })
  const [first, ...more] = rows
  return first && { kind: 'automatic', attempts, dueAt, events: [first, ...more] }
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
 * The webhooks that are not busy, with the newest event of the log and the oldest one of a replay. Their
 * events are read by statements of their own, because PostgreSQL uses an index for a parameter only: under
 * row-level security, a condition that computes the sequence number would read the whole log.
 */
const findWebhooks = prepared((db: Db, { busy }: { busy: string }) =>
  db
    .selectFrom('webhook')
    .select(['id as webhookId', 'url', 'headers', 'secrets', 'cursor', 'attempts', 'due_at'])
    .select(sql<number | null>`(select max(sequence) from event)`.as('newest'))
    .select(
      sql<number | null>`(select min(event_sequence) from redelivery where webhook_id = webhook.id)`.as(
        'replayed',
      ),
    )
    .where('id', 'not in', stringsOf(db, busy)),
)
type WebhookRow = Awaited<ReturnType<typeof findWebhooks>>['rows'][number]

const findReplayed = prepared((db: Db, { webhookId, sequence }: { webhookId: string; sequence: number }) =>
  db
    .selectFrom('redelivery')
    .innerJoin('event', 'event.sequence', 'redelivery.event_sequence')
    .selectAll('event')
    .select(['redelivery.attempts as replayAttempts', 'redelivery.due_at as replayDueAt'])
    .where('redelivery.webhook_id', '=', webhookId)
    .where('redelivery.event_sequence', '=', sequence),
)

/** The next event of a queue, and those that are read with it. */
const eventsAfter = prepared((db: Db, { sequence }: { sequence: number }) =>
  db
    .selectFrom('event')
    .selectAll()
    .where('sequence', '>', sequence)
    .orderBy('sequence')
    .limit(1 + readAhead),
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
