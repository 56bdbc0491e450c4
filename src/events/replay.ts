/** Events sent again (ours): put into the webhook's own lane, oldest first, before what it was not told yet. */
import { sql } from 'kysely'
import { z } from 'zod'
import { firstIdOf } from '../base/id.ts'
import { Problem } from '../base/problem.ts'
import type { Tx } from '../storage/database.ts'
import { noteChange } from '../storage/tx-context.ts'
import { findWebhook } from './webhooks.ts'

/** What is wanted: one event, all since an instant, or all that were given up. */
export const Replay = z
  .strictObject({
    eventId: z.guid().toLowerCase().optional().describe('This event.'),
    since: z.iso.datetime({ offset: true }).optional().describe('The events since this instant.'),
    failed: z.literal(true).optional().describe('The events that were given up.'),
  })
  .refine(
    (replay) => Object.values(replay).filter((value) => value !== undefined).length === 1,
    'has not exactly one of eventId, since and failed',
  )
  .meta({ id: 'WebhookReplayRequest' })
export type Replay = z.infer<typeof Replay>

/** An event's id says when it was made, or later when the clock was set back: the moment before `ts`, so by how much that may be more. */
const toleranceMs = 60_000

/**
 * Has a webhook sent events again, whether it took them or not, and also those from before its registration. What it will be sent
 * anyway is left alone: what waits in its lane, and what a replay before this one has put there. Returns how many events were put there.
 *
 * @throws {Problem} `NotFound` when there is no such webhook, or no such event in the log.
 */
export async function replay(tx: Tx, webhookId: string, { eventId, since, failed }: Replay): Promise<number> {
  const { cursor } = await findWebhook(tx, webhookId)
  if (eventId !== undefined) {
    const known = await tx.selectFrom('event').select('id').where('id', '=', eventId).executeTakeFirst()
    if (!known)
      throw new Problem(
        'NotFound',
        `There is no event ${eventId} in the log, which keeps events for EVENT_RETENTION.`,
      )
  }
  const dead = tx.selectFrom('dead_letter').where('webhook_id', '=', webhookId).select('event_sequence')
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('redelivery')
    .columns(['webhook_id', 'event_sequence', 'attempts', 'due_at'])
    .expression(
      tx
        .selectFrom('event')
        // With a plus it is no range that SQLite would read instead of that of the ids.
        .where(sql<number>`+sequence`, '<=', cursor)
        .$if(eventId !== undefined, (query) => query.where('id', '=', eventId!))
        .$if(since !== undefined, (query) =>
          query
            .where('id', '>=', firstIdOf(new Date(Date.parse(since!) - toleranceMs)))
            .where('ts', '>=', new Date(since!).toISOString()),
        )
        .$if(failed === true, (query) => query.where('sequence', 'in', dead))
        // Due at once, wherever the clock is set to in the meantime.
        .select((eb) => [
          eb.val(webhookId).as('webhook_id'),
          'sequence',
          eb.val(0).as('attempts'),
          eb.val(new Date(0).toISOString()).as('due_at'),
        ]),
    )
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  noteChange(tx, 'events')
  return Number(numInsertedOrUpdatedRows ?? 0)
}
