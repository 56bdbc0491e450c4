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
import { changeAtCommit } from '../../foundation/storage/memory.ts'
import { larger } from '../../foundation/storage/sql.ts'
import { logAccepted, logAttempt, type Answer } from './delivery-log.ts'
import { toEventText } from './event.ts'
import { headOf } from './queue-head.ts'
import { toRequests, type Events } from './requests.ts'
import { allWebhooks, forgetWebhooks, WebhookQueues } from './webhook-queues.ts'

/** Attempts to deliver an event, and the seconds between them, as in the Cloud Agent. */
export const attemptLimit = 3
export const attemptSpacing = 5

/**
 * A request to a webhook: its events, with the webhook's URL, and its sealed headers and secrets. `following`
 * are the events of the next requests, as far as they were read; `newest` is the sequence number of the last
 * event in the log.
 */
export type Delivery = {
  webhookId: string
  url: string
  headers: string
  secrets: string | null
  batch: number | null
  kind: 'automatic' | 'replay'
  attempts: number
  events: Events
  following: Events[]
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
 * `steadyNow`. `skipped` has by webhook id the last event of a queue in which it wants none.
 */
export async function dueDeliveries(
  db: Db,
  walletId: string,
  { now = new Date(steadyNow()), busy = [], accepted = new Map() }: DueDeliveryOptions = {},
): Promise<{
  deliveries: Delivery[]
  nextAt?: Date
  waiting: Waiting
  skipped: ReadonlyMap<string, number>
}> {
  const deliveries: Delivery[] = []
  const skipped = new Map<string, number>()
  const waiting = new Map<string, { count: number; since: number }>()
  let nextAt: Date | undefined
  for (const webhook of await allWebhooks(db)) {
    if (busy.includes(webhook.webhookId)) continue
    const head = await headOf(db, webhook, accepted)
    const { webhookId, url, headers, secrets, batch, types } = webhook
    if (!head) continue
    if ('skipped' in head) {
      skipped.set(webhookId, head.skipped)
      continue
    }
    const [{ sequence, ts }] = head.events
    const newest = webhook.newest!
    // Sequence numbers have no gaps. Of a replay, only the next event is known here, and of a webhook for
    // some types only those that were read.
    const all = types === null ? newest - sequence + 1 : head.events.length
    const count = head.kind === 'replay' ? 1 : all
    waiting.set(webhookId, { count, since: Date.parse(ts) })
    if (isWaiting(head.dueAt, now)) {
      if (!nextAt || head.dueAt < nextAt.toISOString()) nextAt = new Date(head.dueAt)
      continue
    }
    const { kind, attempts } = head
    const queued = head.events.map((each) => ({
      sequence: each.sequence,
      event: toEventText(each, walletId),
    }))
    const [events, ...following] = toRequests(queued, webhook)
    deliveries.push({
      webhookId,
      url,
      headers,
      secrets,
      batch,
      kind,
      attempts,
      events: events!,
      following,
      newest,
    })
  }
  return { deliveries, ...(nextAt && { nextAt }), waiting, skipped }
}

/** Stores that webhooks want none of their events up to the last one that was skipped. */
export async function skip(tx: Tx, skipped: ReadonlyMap<string, number>): Promise<void> {
  for (const [id, cursor] of skipped) {
    await setCursor(tx, { id, cursor })
    changeAtCommit(tx, WebhookQueues, (queues) => queues.moveCursor(id, cursor))
  }
}

/** An accepted request, and its answer. */
export type Acceptance = { delivery: Delivery; answer: Answer }

/** Stores that a webhook accepted a request, unless the webhook was deleted meanwhile. */
export async function confirm(tx: Tx, delivery: Delivery, answer: Answer): Promise<void> {
  const { webhookId, events, kind } = delivery
  if (kind === 'automatic') return confirmAll(tx, [{ delivery, answer }])
  if (!(await removeFromQueue(tx, delivery))) return
  const [queued] = events
  await logAttempt(tx, { webhookId, kind, ...queued }, answer)
  await tx
    .deleteFrom('dead_letter')
    .where('webhook_id', '=', webhookId)
    .where('event_sequence', '=', queued.sequence)
    .execute()
}

/** As `confirm`, for requests that are not replays. */
export async function confirmAll(tx: Tx, acceptances: readonly Acceptance[]): Promise<void> {
  const last = new Map<string, Delivery>()
  for (const { delivery } of acceptances)
    if (lastOf(delivery) > lastOf(last.get(delivery.webhookId))) last.set(delivery.webhookId, delivery)
  for (const [webhookId, delivery] of last) if (!(await removeFromQueue(tx, delivery))) last.delete(webhookId)
  const stored = acceptances.filter(({ delivery }) => last.has(delivery.webhookId))
  if (stored.length > 0) await logAccepted(tx, stored)
}

/** The sequence number of the last event of a request; 0 without one. */
export const lastOf = (delivery: Delivery | undefined): number => delivery?.events.at(-1)!.sequence ?? 0

/**
 * Stores a failed attempt: reschedules the request, or after the last attempt makes its events dead letters
 * and continues with the next event.
 */
export async function fail(
  tx: Tx,
  delivery: Delivery,
  answer: Answer,
  now = new Date(steadyNow()),
): Promise<'retry' | 'dead letter'> {
  const { webhookId, kind, events } = delivery
  const attempts = delivery.attempts + 1
  if (attempts < attemptLimit) {
    const isThere = await reschedule(tx, delivery, attempts, new Date(now.getTime() + attemptSpacing * 1_000))
    if (isThere) for (const queued of events) await logAttempt(tx, { webhookId, kind, ...queued }, answer)
    return 'retry'
  }
  if (!(await removeFromQueue(tx, delivery))) return 'dead letter'
  for (const queued of events) {
    const attempt = await logAttempt(tx, { webhookId, kind, ...queued }, answer)
    await tx
      .insertInto('dead_letter')
      .values({ webhook_id: webhookId, event_sequence: queued.sequence, attempt })
      .onConflict((conflict) => conflict.columns(['webhook_id', 'event_sequence']).doUpdateSet({ attempt }))
      .execute()
  }
  return 'dead letter'
}

/** A due time beyond the spacing of attempts was written before the clock was set back. It counts as due. */
function isWaiting(dueAt: string, now: Date): boolean {
  return dueAt > now.toISOString() && Date.parse(dueAt) <= now.getTime() + attemptSpacing * 1_000
}

/** An acceptance may be stored after that of a later request, or after its failure. */
const setCursor = prepared((db: Db, { id, cursor }: { id: string; cursor: number }) =>
  db
    .updateTable('webhook')
    .set({
      cursor: larger(db, sql<number>`cursor`, sql<number>`${cursor}`),
      attempts: sql<number>`case when retry_to > ${cursor} then attempts else 0 end`,
      retry_to: sql<number | null>`case when retry_to > ${cursor} then retry_to end`,
    })
    .where('id', '=', id),
)

/** Removes the events of a request from the webhook's queue. Returns whether they were in it. */
async function removeFromQueue(tx: Tx, delivery: Delivery): Promise<boolean> {
  const { webhookId, kind } = delivery
  const sequence = lastOf(delivery)
  if (kind === 'automatic') {
    const { numAffectedRows } = await setCursor(tx, { id: webhookId, cursor: sequence })
    changeAtCommit(tx, WebhookQueues, (queues) => queues.moveCursor(webhookId, sequence))
    return numAffectedRows === 1n
  }
  forgetWebhooks(tx)
  const { numDeletedRows } = await tx
    .deleteFrom('redelivery')
    .where('webhook_id', '=', webhookId)
    .where('event_sequence', '=', sequence)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

/** Reschedules the request to `dueAt`. Returns whether its events were in the queue. */
async function reschedule(tx: Tx, delivery: Delivery, attempts: number, dueAt: Date): Promise<boolean> {
  const { webhookId, kind } = delivery
  const sequence = lastOf(delivery)
  const values = { attempts, due_at: dueAt.toISOString() }
  forgetWebhooks(tx)
  const { numUpdatedRows } =
    kind === 'automatic'
      ? await tx
          .updateTable('webhook')
          .set({ ...values, retry_to: sequence })
          .where('id', '=', webhookId)
          .executeTakeFirst()
      : await tx
          .updateTable('redelivery')
          .set(values)
          .where('webhook_id', '=', webhookId)
          .where('event_sequence', '=', sequence)
          .executeTakeFirst()
  return numUpdatedRows === 1n
}
