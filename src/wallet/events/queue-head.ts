/** The first events of a webhook's queue: of a replay, or after the cursor those that it wants. */
import type { Db } from '../../foundation/storage/database.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import type { EventRow } from './event.ts'
import { isWanted, nextEvents, type QueuedWebhook } from './webhook-queues.ts'

/** The first event of a webhook's queue, those after it, the failed attempts, and when the next one is due. */
type Head = {
  kind: 'automatic' | 'replay'
  attempts: number
  dueAt: string
  events: [EventRow, ...EventRow[]]
}

/**
 * The oldest event of a replay, or those after the cursor. Undefined if the queue is empty; the last one if
 * the webhook wants none of them.
 */
export async function headOf(
  db: Db,
  webhook: QueuedWebhook,
  accepted: ReadonlyMap<string, number>,
): Promise<Head | { skipped: number } | undefined> {
  const { webhookId, cursor, newest, replayed, attempts, due_at: dueAt } = webhook
  if (replayed !== null) {
    const { rows } = await findReplayed(db, { webhookId, sequence: replayed })
    const [row] = rows
    return row && { kind: 'replay', attempts: row.replayAttempts, dueAt: row.replayDueAt, events: [row] }
  }
  const start = Math.max(cursor, accepted.get(webhookId) ?? 0)
  let last = start
  while (last < (newest ?? 0)) {
    const read = await nextEvents(db, webhook, last)
    const [first, ...more] = read.filter(({ type }) => isWanted(webhook, type))
    if (first) return { kind: 'automatic', attempts, dueAt, events: [first, ...more] }
    last = read.at(-1)?.sequence ?? newest!
  }
  return last > start ? { skipped: last } : undefined
}

const findReplayed = prepared((db: Db, { webhookId, sequence }: { webhookId: string; sequence: number }) =>
  db
    .selectFrom('redelivery')
    .innerJoin('event', 'event.sequence', 'redelivery.event_sequence')
    .selectAll('event')
    .select(['redelivery.attempts as replayAttempts', 'redelivery.due_at as replayDueAt'])
    .where('redelivery.webhook_id', '=', webhookId)
    .where('redelivery.event_sequence', '=', sequence),
)
