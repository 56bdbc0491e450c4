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
import { toPlaced, type Event, type EventRow, type Written } from './event.ts'

/** Attempts that an event gets, and the seconds between them (service §6.3). */
export const attemptLimit = 3
export const attemptSpacing = 5

/** Where a webhook is, and its sealed headers and secrets. */
type Receiver = { webhookId: string; url: string; headers: string; secrets: string | null }

/** A webhook with an event to deliver, and the event's place in the log. */
export type Delivery = Receiver & { kind: 'automatic' | 'replay'; attempts: number; sequence: number; event: Event }

/** A delivery whose turn it is; `isLast` when nothing is behind it in the lane. */
export type DueDelivery = Delivery & { isLast: boolean }

/** A webhook that was told of all events up to a place in the log. */
export type Told = Receiver & { cursor: number }

/**
 * What every webhook that has waiting events is owed next, and when the next attempt put off is due; and those that nothing waits for. One event is
 * read for each webhook, however many wait; those of `busy` are left out.
 */
export async function dueDeliveries(
  db: Db,
  walletId: string,
  { now = new Date(steadyNow()), busy = [] }: { now?: Date; busy?: readonly string[] } = {},
): Promise<{ deliveries: DueDelivery[]; told: Told[]; nextAt?: Date }> {
  const deliveries: DueDelivery[] = []
  const told: Told[] = []
  let nextAt: Date | undefined
  for (const { receiver, cursor, head } of await readLanes(db, busy)) {
    if (!head) told.push({ ...receiver, cursor })
    else if (!isPutOff(head.dueAt, now)) deliveries.push({ ...receiver, ...toDelivery(head, walletId) })
    else if (!nextAt || head.dueAt < nextAt.toISOString()) nextAt = new Date(head.dueAt)
  }
  return { deliveries, told, ...(nextAt && { nextAt }) }
}

/** What a webhook that was told of all before is owed for an event that was written just now. */
export function nextDelivery({ webhookId, url, headers, secrets }: Receiver, { sequence, event }: Written, walletId: string): Delivery {
  return { webhookId, url, headers, secrets, kind: 'automatic', attempts: 0, sequence, event: { ...event, walletId } }
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

type Head = Pick<DueDelivery, 'kind' | 'attempts' | 'isLast'> & { dueAt: string; row: EventRow }

function toDelivery({ kind, attempts, isLast, row }: Head, walletId: string) {
  return { kind, attempts, isLast, ...toPlaced(row, walletId) }
}

/** All webhooks, each with the first of its lane, if anything waits there: the oldest event that was asked for again, or the one after the webhook's place. */
async function readLanes(db: Db, busy: readonly string[]): Promise<{ receiver: Receiver; cursor: number; head?: Head }[]> {
  const { rows } = await findLanes(db, { busy: JSON.stringify(busy) })
  return rows.map(({ webhookId, url, headers, secrets, cursor, attempts, due_at, attemptsAgain, dueAgain, newest, ...row }) => {
    const lane = { receiver: { webhookId, url, headers, secrets }, cursor }
    if (!isThere(row)) return lane
    if (attemptsAgain !== null && dueAgain !== null)
      return { ...lane, head: { kind: 'replay', attempts: attemptsAgain, dueAt: dueAgain, isLast: false, row } }
    return { ...lane, head: { kind: 'automatic', attempts, dueAt: due_at, isLast: newest === row.sequence, row } }
  })
}

/** Whether a row of the events was joined. */
function isThere(row: { [Name in keyof EventRow]: EventRow[Name] | null }): row is EventRow {
  return row.sequence !== null
}

const findLanes = prepared((db: Db, { busy }: { busy: string }) => {
  const again = sql<number>`(select min(event_sequence) from redelivery where webhook_id = webhook.id)`
  const next = sql<number>`(select min(sequence) from event where sequence > webhook.cursor)`
  const newest = sql<number>`(select max(sequence) from event)`
  return db
    .selectFrom('webhook')
    .leftJoin('event', (join) => join.on('event.sequence', '=', sql<number>`coalesce(${again}, ${next})`))
    .leftJoin('redelivery', (join) =>
      join.onRef('redelivery.webhook_id', '=', 'webhook.id').onRef('redelivery.event_sequence', '=', 'event.sequence'),
    )
    .selectAll('event')
    .select(['webhook.id as webhookId', 'url', 'headers', 'secrets', 'webhook.cursor', 'webhook.attempts', 'webhook.due_at'])
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
