/** A webhook's lane: the next event it is owed, and what became of an attempt (service §6.3). */
import type { Db, Tx } from '../storage/database.ts'
import { eventsAfter, lastSequence, type Event } from './event.ts'

/** Attempts that an event gets, and the seconds between them (service §6.3). */
export const attemptLimit = 3
export const attemptSpacing = 5

/** A webhook with an event to deliver: where, sealed headers, the event and its place in the log. */
export type Delivery = { webhookId: string; url: string; headers: string; attempts: number; sequence: number; event: Event }

/** What every webhook that has waiting events is owed next, and when the next attempt put off is due. */
export async function dueDeliveries(db: Db, walletId: string, now = new Date()): Promise<{ deliveries: Delivery[]; nextAt?: Date }> {
  const last = await lastSequence(db)
  const webhooks = await db.selectFrom('webhook').selectAll().where('cursor', '<', last).execute()
  const deliveries: Delivery[] = []
  let nextAt: Date | undefined
  for (const { id, url, headers, cursor, attempts, due_at } of webhooks) {
    if (due_at > now.toISOString()) {
      if (!nextAt || due_at < nextAt.toISOString()) nextAt = new Date(due_at)
      continue
    }
    const [next] = await eventsAfter(db, walletId, cursor, 1)
    if (next) deliveries.push({ webhookId: id, url, headers, attempts, ...next })
  }
  return { deliveries, ...(nextAt && { nextAt }) }
}

/** The event was taken: the webhook, if it is still there, moves on. */
export async function delivered(tx: Tx, { webhookId, sequence }: Delivery): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('webhook')
    .set({ cursor: sequence, attempts: 0 })
    .where('id', '=', webhookId)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** The event was not taken: another attempt later, or, after the last one, a dead letter and the next event. */
export async function failed(tx: Tx, delivery: Delivery, error: string, now = new Date()): Promise<'again' | 'given up'> {
  const { webhookId, sequence } = delivery
  const attempts = delivery.attempts + 1
  if (attempts < attemptLimit) {
    const due_at = new Date(now.getTime() + attemptSpacing * 1_000).toISOString()
    await tx.updateTable('webhook').set({ attempts, due_at }).where('id', '=', webhookId).execute()
    return 'again'
  }
  // Who was deleted while the request was under way needs no letter.
  if (!(await delivered(tx, delivery))) return 'given up'
  await tx
    .insertInto('dead_letter')
    .values({ webhook_id: webhookId, event_sequence: sequence, error, failed_at: now.toISOString() })
    .execute()
  return 'given up'
}
