/**
 * The log of deliveries (extension): every attempt to deliver an event to a webhook, stored as long as the
 * event.
 */
import { sql, type Selectable } from 'kysely'
import * as z from 'zod'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { pageOf, type Paging } from '../../foundation/storage/list-query.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { elementsOf, nextSequence } from '../../foundation/storage/sql.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import { findSequence, lastSequence, type Event } from './event.ts'
import { globalWebhookId } from './webhooks.ts'

/** The result of one POST. `status` is absent without an answer, `error` if the event was accepted. */
export type Answer = { attemptedAt: Date; durationMs: number; status?: number; error?: string }

/** A first delivery, a replay, or a test of the webhook. */
export type AttemptKind = 'automatic' | 'replay' | 'test'

export const outcomes = ['delivered', 'failed', 'dead'] as const

export const WebhookDelivery = z
  .object({
    eventId: z.string(),
    type: z.string(),
    kind: z.enum(['automatic', 'replay', 'test']),
    outcome: z
      .enum(outcomes)
      .describe('`dead`: the last attempt at an abandoned event, until a replay delivers it.'),
    attemptedAt: z.iso.datetime(),
    durationMs: z.number(),
    status: z.number().optional().describe('The HTTP status; absent without an answer.'),
    error: z.string().optional().describe('Why the event was not accepted.'),
  })
  .meta({ id: 'WebhookDelivery' })
export type WebhookDelivery = z.infer<typeof WebhookDelivery>

/** A filter for attempts: `failed` are all unaccepted ones, `dead` the last one at each abandoned event. */
export type DeliveryQuery = Paging & {
  eventId?: string | undefined
  outcome?: (typeof outcomes)[number] | undefined
}

/** The subject of an attempt. `sequence` is that of the event; a test event has none. */
export type Attempted = {
  webhookId: string
  event: Pick<Event, 'id' | 'type'>
  sequence?: number
  kind: AttemptKind
}

type AttemptRow = Selectable<WalletTables['delivery_attempt']>

const insertAttempt = prepared((db: Db, row: Omit<AttemptRow, 'sequence'>) =>
  db
    .insertInto('delivery_attempt')
    .values({
      sequence: nextSequence('delivery_attempt'),
      webhook_id: row.webhook_id,
      event_sequence: row.event_sequence,
      event_id: row.event_id,
      event_type: row.event_type,
      kind: row.kind,
      attempted_at: row.attempted_at,
      duration_ms: row.duration_ms,
      status: row.status,
      error: row.error,
    })
    .returning('sequence'),
)

/** Logs an attempt. Returns its sequence number. */
export async function logAttempt(
  tx: Tx,
  { webhookId, event, sequence, kind }: Attempted,
  answer: Answer,
): Promise<number> {
  const { rows } = await insertAttempt(tx, {
    webhook_id: webhookId,
    event_sequence: sequence ?? ((await lastSequence(tx)) || null),
    event_id: event.id,
    event_type: event.type,
    kind,
    attempted_at: answer.attemptedAt.toISOString(),
    duration_ms: Math.round(answer.durationMs),
    status: answer.status ?? null,
    error: answer.error ?? null,
  })
  return rows[0]!.sequence
}

const insertAttempts = prepared((db: Db, { rows }: { rows: string }) => {
  const of = (name: keyof LoggedAttempt) => sql`value ->> ${sql.lit(name)}`
  const number = (name: keyof LoggedAttempt) => sql<number>`cast(${of(name)} as bigint)`
  return db
    .insertInto('delivery_attempt')
    .columns([
      'sequence',
      'webhook_id',
      'event_sequence',
      'event_id',
      'event_type',
      'kind',
      'attempted_at',
      'duration_ms',
      'status',
    ])
    .expression(
      db
        .selectFrom(elementsOf(db, rows).as('element'))
        .select([
          sql<number>`(select coalesce(max(sequence), 0) from delivery_attempt) + position`.as('sequence'),
          sql<string>`${of('webhookId')}`.as('webhook_id'),
          number('sequence').as('event_sequence'),
          sql<string>`${of('eventId')}`.as('event_id'),
          sql<string>`${of('type')}`.as('event_type'),
          sql<string>`${sql.lit('automatic')}`.as('kind'),
          sql<string>`${of('attemptedAt')}`.as('attempted_at'),
          number('durationMs').as('duration_ms'),
          number('status').as('status'),
        ]),
    )
})

type LoggedAttempt = Record<'webhookId' | 'eventId' | 'type' | 'attemptedAt', string> &
  Record<'sequence' | 'durationMs' | 'status', number | undefined>

type Accepted = {
  delivery: { webhookId: string; events: readonly Pick<Attempted, 'event' | 'sequence'>[] }
  answer: Answer
}

/** Logs that webhooks accepted requests, in one statement. */
export async function logAccepted(tx: Tx, accepted: readonly Accepted[]): Promise<void> {
  const rows = accepted.flatMap(({ delivery: { webhookId, events }, answer }) =>
    events.map(({ event, sequence }): LoggedAttempt => ({
      webhookId,
      sequence,
      eventId: event.id,
      type: event.type,
      attemptedAt: answer.attemptedAt.toISOString(),
      durationMs: Math.round(answer.durationMs),
      status: answer.status,
    })),
  )
  await insertAttempts(tx, { rows: JSON.stringify(rows) })
}

/** A page of a webhook's attempts, newest first, and the number of all matching attempts. */
export async function listDeliveries(
  db: Db,
  webhookId: string,
  { eventId, outcome, ...paging }: DeliveryQuery,
): Promise<{ deliveries: WebhookDelivery[]; total: number }> {
  const place = eventId === undefined ? undefined : await findSequence(db, eventId)
  const wanted = attempts(db)
    .where('delivery_attempt.webhook_id', '=', webhookId)
    .$if(eventId !== undefined, (query) => query.where('event_id', '=', eventId!))
    .$if(place !== undefined, (query) => query.where('delivery_attempt.event_sequence', '=', place!))
    // An event that is not in the log is a test event.
    .$if(eventId !== undefined && place === undefined, (query) => query.where('kind', '=', sql.lit('test')))
    .$if(outcome === 'delivered', (query) => query.where('error', 'is', null))
    .$if(outcome === 'failed', (query) => query.where('error', 'is not', null))
    // A condition on the joined table, so that SQLite reads the dead letters and not the whole log.
    .$if(outcome === 'dead', (query) => query.where('dead_letter.webhook_id', '=', webhookId))
  const selected = wanted.selectAll('delivery_attempt').select('dead_letter.attempt as dead')
  const { rows, total } = await pageOf(selected, ['delivery_attempt.sequence'], { ...paging, order: 'desc' })
  return { total, deliveries: rows.map(toDelivery) }
}

export type EventDelivery = WebhookDelivery & { webhookId: string; eventSequence: number }

/**
 * The first attempts at some events, oldest first, without those at the global webhook, which belongs to the
 * operator.
 */
export async function deliveriesOf(
  db: Db,
  eventSequences: readonly number[],
  limit: number,
): Promise<EventDelivery[]> {
  if (eventSequences.length === 0) return []
  const rows = await attempts(db)
    .where('delivery_attempt.event_sequence', 'in', eventSequences)
    .where('delivery_attempt.webhook_id', '!=', globalWebhookId)
    .where('kind', '!=', 'test')
    .selectAll('delivery_attempt')
    .select('dead_letter.attempt as dead')
    .orderBy('delivery_attempt.sequence')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    ...toDelivery(row),
    webhookId: row.webhook_id,
    eventSequence: row.event_sequence!,
  }))
}

/** The log, joined with the dead letters. */
function attempts(db: Db) {
  return db
    .selectFrom('delivery_attempt')
    .leftJoin('dead_letter', (join) =>
      join
        .onRef('dead_letter.webhook_id', '=', 'delivery_attempt.webhook_id')
        .onRef('dead_letter.event_sequence', '=', 'delivery_attempt.event_sequence')
        .onRef('dead_letter.attempt', '=', 'delivery_attempt.sequence'),
    )
}

function toDelivery({ status, error, dead, ...row }: AttemptRow & { dead: number | null }): WebhookDelivery {
  return {
    eventId: row.event_id,
    type: row.event_type,
    kind: row.kind,
    outcome: dead !== null ? 'dead' : error === null ? 'delivered' : 'failed',
    attemptedAt: row.attempted_at,
    durationMs: row.duration_ms,
    ...(status !== null && { status }),
    ...(error !== null && { error }),
  }
}
