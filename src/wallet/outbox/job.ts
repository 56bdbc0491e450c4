/**
 * Jobs: messages to send and tasks to run, one row each, written in the transaction that causes them.
 *
 * Jobs of one queue run one at a time and in order. The worker deletes a job in the transaction that stores
 * its result.
 */
import { sql } from 'kysely'
import * as z from 'zod'
import { steadyNow } from '../../foundation/clock.ts'
import { newId } from '../../foundation/id.ts'
import { traceContext } from '../../foundation/spans.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { changeAtCommit } from '../../foundation/storage/memory.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { nextSequence, stringsOf } from '../../foundation/storage/sql.ts'
import { noteChange, noteThread } from '../../foundation/storage/tx-context.ts'
import { firstJobs, JobQueue, type JobRow } from './job-queue.ts'

/** The content of a message. Id, sender, recipient and creation time are added when it is sent. */
const Content = z.object({
  type: z.string(),
  /** Absent for the first message of a thread. */
  thid: z.string().optional(),
  pthid: z.string().optional(),
  body: z.looseObject({}),
  attachments: z.array(z.looseObject({ data: z.looseObject({}) })).optional(),
})

/** `recordId` is the id of the protocol's record, or of its row in another table. */
const of = {
  protocol: z.string(),
  recordId: z.string(),
  /** The span that queued the job (`traceparent`). Absent without an export of traces. */
  traceparent: z.string().optional(),
}

export const JobBody = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('message'), ...of, from: z.string(), to: z.string(), message: Content }),
  z.object({ kind: z.literal('task'), ...of, task: z.string() }),
])
export type JobBody = z.infer<typeof JobBody>
export type TaskBody = Extract<JobBody, { kind: 'task' }>
export type MessageBody = Extract<JobBody, { kind: 'message' }>

/**
 * A job. Its id is also the DIDComm message id of every attempt. `eventSequence` is the sequence number of
 * the last event before the job; `reason` says why the last attempt failed.
 */
export type Job = {
  id: string
  queue: string
  attempts: number
  createdAt: string
  body: JobBody
  eventSequence: number
  reason?: string
}

type NewRow = Pick<JobRow, 'id' | 'queue' | 'kind' | 'body' | 'created_at' | 'due_at'>

const insertJob = prepared((db: Db, job: NewRow) =>
  db
    .insertInto('job')
    .values({
      sequence: nextSequence('job'),
      id: job.id,
      queue: job.queue,
      kind: job.kind,
      body: job.body,
      attempts: 0,
      due_at: job.due_at,
      put_off_at: null,
      reason: null,
      created_at: job.created_at,
      event_sequence: sql<number>`(select coalesce(max(sequence), 0) from event)`,
    })
    .returningAll(),
)

/** Due at once, even if the system clock is set back. */
const atOnce = new Date(0).toISOString()

/**
 * Adds a job to the end of a queue. Returns its id. A planned job, with a due time by `steadyNow`, counts as
 * created then: until then nothing waits for it.
 */
export async function enqueue(tx: Tx, queue: string, body: JobBody, dueAt?: Date): Promise<string> {
  const id = newId()
  if (body.kind === 'message') noteThread(tx, body.message.thid ?? id)
  const traceparent = traceContext()
  const parsed = traceparent === undefined ? body : { ...body, traceparent }
  const { rows } = await insertJob(tx, {
    id,
    queue,
    kind: body.kind,
    body: JSON.stringify(parsed),
    due_at: dueAt?.toISOString() ?? atOnce,
    created_at: (dueAt ?? new Date(steadyNow())).toISOString(),
  })
  changeAtCommit(tx, JobQueue, (jobs) => jobs.add({ ...rows[0]!, parsed }))
  noteChange(tx, 'jobs')
  return id
}

/** Queues to leave out, and how many jobs to return at most. */
export type DueOptions = { busy?: readonly string[]; limit?: number }

/**
 * The first job of every queue if it is due, fewest attempts first, and when the next one is due, both by
 * `steadyNow`. `nextAt` is absent if more than `limit` jobs are due. `waiting` has the number of all jobs,
 * also of busy queues, without planned ones, and when the oldest one was added; it is absent if all queues
 * are busy, or only planned jobs are left.
 */
export async function dueJobs(
  db: Db,
  now = new Date(steadyNow()),
  { busy = [], limit = 1_000 }: DueOptions = {},
): Promise<{ jobs: Job[]; nextAt?: Date; waiting?: { count: number; since: number } }> {
  const at = now.toISOString()
  const { rows, isComplete } = await firstJobs(db)
  const heads = isComplete
    ? headsOf(rows, at, busy)
    : (await findHeads(db, { at, limit: limit + 1, busy: JSON.stringify(busy) })).rows
  const due = heads.filter((row) => !isWaiting(row, at))
  const next = due.length > limit ? undefined : heads.find((row) => isWaiting(row, at))
  const begun = rows.filter((row) => row.due_at !== row.created_at || row.due_at <= at)
  const count = isComplete ? begun.length : Number((await countJobs(db, { at })).rows[0]!.count)
  return {
    jobs: due.slice(0, limit).map(toJob),
    ...(next && { nextAt: new Date(next.due_at) }),
    ...(heads.length > 0 && begun[0] && { waiting: { count, since: Date.parse(begun[0].created_at) } }),
  }
}

const countJobs = prepared((db: Db, { at }: { at: string }) =>
  db
    .selectFrom('job')
    .select((eb) => eb.fn.countAll().as('count'))
    .where((eb) => eb.or([eb('due_at', '!=', eb.ref('created_at')), eb('due_at', '<=', at)])),
)

/** A due time counts only if the clock was not set back behind the time of the attempt. */
function isWaiting({ due_at, put_off_at }: JobRow, at: string): boolean {
  return due_at > at && (put_off_at === null || put_off_at <= at)
}

/** As `findHeads`, from all jobs in their order. */
function headsOf(rows: readonly JobRow[], at: string, busy: readonly string[]): JobRow[] {
  const heads = new Map<string, JobRow>()
  for (const row of rows) if (!busy.includes(row.queue) && !heads.has(row.queue)) heads.set(row.queue, row)
  const waitsUntil = (row: JobRow) => (isWaiting(row, at) ? Date.parse(row.due_at) : 0)
  return [...heads.values()].toSorted(
    (one, other) =>
      waitsUntil(one) - waitsUntil(other) || one.attempts - other.attempts || one.sequence - other.sequence,
  )
}

/** The first job of every queue that is not busy: due jobs first, then the one that is due next. */
const findHeads = prepared((db: Db, { at, limit, busy }: { at: string; limit: number; busy: string }) => {
  const waits = sql<number>`(due_at > ${at} and (put_off_at is null or put_off_at <= ${at}))`
  return db
    .selectFrom('job')
    .selectAll()
    .where('sequence', 'in', (eb) =>
      eb
        .selectFrom('job')
        .select((e) => e.fn.min('sequence').as('sequence'))
        .where('queue', 'not in', stringsOf(db, busy))
        .groupBy('queue'),
    )
    .orderBy(waits)
    .orderBy(sql`case when ${waits} then due_at end`)
    .orderBy('attempts')
    .orderBy('sequence')
    .limit(limit)
})

const deleteById = prepared((db: Db, { id }: Pick<JobRow, 'id'>) => db.deleteFrom('job').where('id', '=', id))

/** Deletes a processed job. Returns whether it was there. */
export async function deleteJob(tx: Tx, id: string): Promise<boolean> {
  const { numAffectedRows } = await deleteById(tx, { id })
  changeAtCommit(tx, JobQueue, (jobs) => jobs.removeWhere((row) => row.id === id))
  return numAffectedRows === 1n
}

/** Deletes unprocessed jobs. The next jobs of their queues become due. */
export async function cancelJobs(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx.deleteFrom('job').where('id', 'in', ids).execute()
  changeAtCommit(tx, JobQueue, (jobs) => jobs.removeWhere((row) => ids.includes(row.id)))
  noteChange(tx, 'jobs')
}

export async function cancelQueue(tx: Tx, queue: string): Promise<void> {
  await tx.deleteFrom('job').where('queue', '=', queue).execute()
  changeAtCommit(tx, JobQueue, (jobs) => jobs.removeWhere((row) => row.queue === queue))
  noteChange(tx, 'jobs')
}

/** Reschedules a job after an attempt, until `dueAt` by `steadyNow`. */
export async function reschedule(
  tx: Tx,
  { id, attempts }: Job,
  dueAt: Date,
  now = new Date(steadyNow()),
  reason?: string,
): Promise<void> {
  const change = {
    attempts: attempts + 1,
    due_at: dueAt.toISOString(),
    put_off_at: now.toISOString(),
    reason: reason ?? null,
  }
  await tx.updateTable('job').set(change).where('id', '=', id).execute()
  changeAtCommit(tx, JobQueue, (jobs) => jobs.update(id, change))
}

/** Reads a job's row. @throws {ZodError} */
export function toJob({ id, queue, attempts, body, parsed, reason, ...row }: JobRow): Job {
  return {
    id,
    queue,
    attempts,
    createdAt: row.created_at,
    body: parsed ?? toBody(body),
    eventSequence: row.event_sequence,
    ...(reason !== null && { reason }),
  }
}

function toBody(text: string): JobBody {
  return JobBody.parse(JSON.parse(text))
}
