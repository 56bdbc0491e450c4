/** Finds what a thread waits for: jobs, the next transition of its records, and deliveries. */
import { sql } from 'kysely'
import { isOver, steadyNow } from '../../foundation/clock.ts'
import type { LoggedEvent } from '../../wallet/events/event.ts'
import { toJob, type Job } from '../../wallet/outbox/job.ts'
import { isWanted } from '../../wallet/events/webhook-queues.ts'
import { globalWebhookId, type WebhookRow } from '../../wallet/events/webhooks.ts'
import { endOf } from '../../exchange/engine/expiry.ts'
import { queueOf } from '../../exchange/engine/record.ts'
import { type Protocol, type Rec, waitsSince } from '../../exchange/engine/protocol.ts'
import { threadOf } from '../../exchange/all-protocols.ts'
import type { Db } from '../../foundation/storage/database.ts'
import type { Topic } from '../../definitions/event-subjects.ts'
import type { Pending } from './model.ts'

/** A record of the thread, and its protocol. */
export type Traced = { protocol: Protocol; record: Rec }

/** The number of jobs to read. */
const queueLimit = 1_000

/** Triggers that a flow does not wait for. */
const unawaited = [
  'flow expired',
  'expired',
  'received problem-report',
  // The worker asks a claims source.
  'received claims',
  'refused by the source',
]

/** Triggers of the worker. */
const confirmations = ['sent', 'made']

export async function findThreadJobs(
  db: Db,
  thread: string,
  traced: readonly Traced[],
): Promise<(Job & { nextAt?: string })[]> {
  const ids = traced.map(({ record }) => record.id)
  const peers = [
    ...ids,
    ...traced.flatMap(({ record }) => (record as { connectionId?: string }).connectionId ?? []),
  ]
  const queues = [...ids.map(queueOf), ...peers.map((id) => `notices:${id}`), `did:${thread}`]
  const read = db.selectFrom('job').selectAll()
  const rows = [
    ...(await read
      .where('queue', 'in', queues)
      .orderBy('queue')
      .orderBy('sequence')
      .limit(queueLimit)
      .execute()),
    ...(await read.where('id', '=', thread).execute()),
  ]
  const isOfThread = ({ id, body, queue }: Job) =>
    body.kind === 'message'
      ? threadOf({ id, ...body.message }) === thread
      : ids.includes(body.recordId) || queue === `did:${thread}`
  const jobs = new Map(rows.map((row) => [row.id, { ...toJob(row), ...nextAtOf(row.due_at) }]))
  return [...jobs.values()].filter(isOfThread)
}

/** When a rescheduled job or delivery is due, by the system clock. */
function nextAtOf(dueAt: string): { nextAt?: string } {
  const waitMs = Date.parse(dueAt) - steadyNow()
  return waitMs > 0 ? { nextAt: new Date(Date.now() + waitMs).toISOString() } : {}
}

export function toPendingJob(job: Job & { nextAt?: string }, traced: readonly Traced[]): Pending {
  const { body, createdAt: since, attempts, reason, nextAt } = job
  const about = traced.find(({ record }) => record.id === body.recordId)
  return {
    what: body.kind === 'message' ? 'message' : 'work',
    since,
    ...(about && toAbout(about)),
    name: body.kind === 'message' ? body.message.type : body.task,
    attempts,
    ...(reason !== undefined && { reason }),
    ...(nextAt !== undefined && { nextAt }),
  }
}

/** Until when the invitation, offer or request of a record can be answered. */
export function expiresAtOf({ protocol, record }: Traced): string | undefined {
  return (protocol.toResource(record) as { expiresAt?: string }).expiresAt
}

/**
 * Names the event that a record without jobs waits for. Undefined if its flow is over, or if it was not
 * answered in time. `lifetimeSeconds` is `FLOW_EXPIRY`.
 */
export function toPendingTransition(traced: Traced, lifetimeSeconds: number): Pending | undefined {
  const { protocol, record } = traced
  const expiresAt = expiresAtOf(traced)
  if (expiresAt !== undefined && isOver(Date.parse(expiresAt))) return undefined
  const triggers = protocol.rows
    .filter(([role, from]) => role === record.role && from === record.state)
    .map(([, , on]) => on)
  const awaited = triggers.filter((on) => !unawaited.includes(on))
  const since = record.updatedAt ?? record.createdAt
  const about = { since, ...toAbout(traced) }
  if (awaited.length === 0) return undefined
  if (awaited.some((on) => /^(received|verified|refused) /.test(on))) return { what: 'answer', ...about }
  if (!awaited.every((on) => confirmations.includes(on))) return { what: 'decision', ...about }
  const waits = waitsSince(protocol, record)
  return {
    what: 'end',
    ...about,
    ...(waits !== null && { nextAt: endOf(waits, lifetimeSeconds).toISOString() }),
  }
}

/** The topic of a protocol's records. */
export function topicOf({ topic }: Protocol): Topic {
  return topic as Topic
}

function toAbout({ protocol, record }: Traced): Pick<Pending, 'topic' | 'recordId' | 'state'> {
  return { topic: topicOf(protocol), recordId: record.id, state: record.state }
}

/** The webhooks with undelivered events of the thread, without the global one, which belongs to the operator. */
export async function findPendingDeliveries(db: Db, events: readonly LoggedEvent[]): Promise<Pending[]> {
  const sequences = events.map(({ sequence }) => sequence)
  if (sequences.length === 0) return []
  const webhooks = await db
    .selectFrom('webhook')
    .select(['id', 'cursor', 'attempts', 'due_at', 'types', 'deliver'])
    .where('id', '!=', globalWebhookId)
    .execute()
  const again = await db
    .selectFrom('redelivery')
    .select(['webhook_id', 'event_sequence', 'attempts', 'due_at'])
    .where('event_sequence', 'in', sequences)
    .orderBy('event_sequence')
    .execute()
  const pending = webhooks.map(async ({ id, cursor, types, deliver, ...head }): Promise<Pending[]> => {
    const replayed = again.filter(({ webhook_id }) => webhook_id === id)
    const wanted = [
      ...replayed.map((each) => each.event_sequence),
      ...events.flatMap(({ sequence, event }) =>
        sequence > cursor && isWanted({ types, deliver }, event.type) ? [sequence] : [],
      ),
    ]
    const first = wanted[0]
    if (first === undefined) return []
    const next = replayed[0] ?? ((await isNext(db, { cursor, types }, first)) ? head : undefined)
    const since = events.find(({ sequence }) => sequence === first)!.event.ts
    const failed =
      next && next.attempts > 0 ? { reason: await lastError(db, id, first), ...nextAtOf(next.due_at) } : {}
    return [
      {
        what: 'webhook',
        since,
        name: id,
        events: new Set(wanted).size,
        attempts: next?.attempts ?? 0,
        ...failed,
      },
    ]
  })
  return (await Promise.all(pending)).flat()
}

async function isNext(
  db: Db,
  { cursor, types }: Pick<WebhookRow, 'cursor' | 'types'>,
  sequence: number,
): Promise<boolean> {
  const next = db
    .selectFrom('event')
    .select('sequence')
    .where('sequence', '>', cursor)
    .$if(types !== null, (all) => all.where(sql<boolean>`${types} like '%,' || type || ',%'`))
    .orderBy('sequence')
    .limit(1)
  return (await next.executeTakeFirst())?.sequence === sequence
}

async function lastError(db: Db, webhookId: string, sequence: number): Promise<string | undefined> {
  const last = await db
    .selectFrom('delivery_attempt')
    .select('error')
    .where('event_sequence', '=', sequence)
    .where('webhook_id', '=', webhookId)
    .where('kind', '!=', 'test')
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
  return last?.error ?? undefined
}
