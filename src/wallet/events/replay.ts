/**
 * Replay of events (extension): puts events into a webhook's queue again, oldest first, before its
 * undelivered events.
 */
import { sql } from 'kysely'
import * as z from 'zod'
import { firstIdOf } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { noteWebhooks } from './webhook-queues.ts'
import { deliveryEvents } from '../../definitions/event-subjects.ts'
import { getWebhook } from './webhooks.ts'

/** The events to replay: one event, all since an instant, or all dead letters. */
export const Replay = z
  .strictObject({
    eventId: z.guid().toLowerCase().optional().describe('This event.'),
    since: z.iso.datetime({ offset: true }).optional().describe('The events since this instant.'),
    failed: z.literal(true).optional().describe('The abandoned events.'),
  })
  .refine(
    (replay) => Object.values(replay).filter((value) => value !== undefined).length === 1,
    'has not exactly one of eventId, since and failed',
  )
  .meta({ id: 'WebhookReplayRequest' })
export type Replay = z.infer<typeof Replay>

/** An event's id (UUIDv7) contains a time shortly before `ts`, or later if the clock was set back. */
const toleranceMs = 60_000

/**
 * Puts events into a webhook's queue, delivered ones and those from before its registration included. Skips
 * events that are in its queue already, those of deliveries unless the webhook sends messages, and since an
 * instant those of types that the webhook does not get. A replay has no secrets.
 * Returns how many events were added.
 *
 * @throws {Problem} `NotFound` if the webhook or the event does not exist
 */
export async function replay(tx: Tx, webhookId: string, { eventId, since, failed }: Replay): Promise<number> {
  const { cursor, types, deliver } = await getWebhook(tx, webhookId)
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
        // The plus prevents that SQLite uses this range instead of that of the ids.
        .where(sql<number>`+sequence`, '<=', cursor)
        .$if(deliver === 0, (query) => query.where('type', 'not in', deliveryEvents))
        .$if(eventId !== undefined, (query) => query.where('id', '=', eventId!))
        .$if(since !== undefined, (query) =>
          query
            .where('id', '>=', firstIdOf(new Date(Date.parse(since!) - toleranceMs)))
            .where('ts', '>=', new Date(since!).toISOString())
            .$if(types !== null, (all) => all.where(sql<boolean>`${types} like '%,' || type || ',%'`)),
        )
        .$if(failed === true, (query) => query.where('sequence', 'in', dead))
        // Due at once, even if the clock is set back.
        .select((eb) => [
          eb.val(webhookId).as('webhook_id'),
          'sequence',
          eb.val(0).as('attempts'),
          eb.val(new Date(0).toISOString()).as('due_at'),
        ]),
    )
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  noteWebhooks(tx)
  return Number(numInsertedOrUpdatedRows ?? 0)
}
