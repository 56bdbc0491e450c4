/**
 * Processes one job: sends the message or runs the task, and deletes the job in the transaction that stores
 * the result.
 */
import { steadyNow } from '../../foundation/clock.ts'
import type { Fields } from '../../foundation/log.ts'
import { Problem } from '../../foundation/problem.ts'
import { activeSpan } from '../../foundation/spans.ts'
import { NoFreeConnectionError, ServerDownError } from '../../foundation/net/destinations.ts'
import { logSent, type Attempt } from '../../wallet/outbox/message-log.ts'
import { deleteJob, reschedule, type Job, type JobBody, type MessageBody } from '../../wallet/outbox/job.ts'
import type { Composition } from './composition.ts'
import { endFailed, isForGood, waitsForTask } from './failed-task.ts'
import { findRecord, getRecord } from './find.ts'
import { findRow } from '../../definitions/machine.ts'
import { updateData, confirmSent } from './record.ts'
import type { Protocol, Rec } from './protocol.ts'
import { NotDelivered, sendMessage } from './send.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { storeOutcome, UnstoredError } from '../../foundation/storage/outcome.ts'
import { LaterError, type Wallet } from '../../wallet/wallet.ts'

/** The shortest and the longest pause between two attempts. */
const firstPauseMs = 250
const longestPauseMs = 60_000

/** How many characters of the reason a rescheduled job keeps. A peer may have chosen the text. */
const reasonLimit = 1_000

/**
 * Processes a job. A failure reschedules it and is stored in its record.
 *
 * @throws {NoFreeConnectionError} if the destination has no free connection
 * @throws {UnstoredError} if the job was processed, and the outcome cannot be stored now
 */
export async function processJob(wallet: Wallet, job: Job, composition: Composition): Promise<void> {
  const { id, body } = job
  const [at, start] = [new Date(), performance.now()]
  const { gauge } = composition.protocols[body.protocol] ?? {}
  const { metrics } = wallet.env
  const observe = (outcome: 'done' | 'failed' | 'postponed') => {
    const ms = performance.now() - start
    metrics.observe('agent_job_duration_seconds', { kind: body.kind, outcome }, ms / 1_000)
    if (gauge) metrics.set(gauge, ms)
  }
  try {
    const write =
      body.kind === 'message'
        ? await send(wallet, composition, job, body)
        : await composition.tasks[body.task]!(wallet, body.recordId)
    await end(wallet, id, write)
    observe('done')
    if (body.kind === 'message') wallet.env.log.debug(fieldsOf(wallet, job), 'a message was sent')
  } catch (error) {
    if (error instanceof NoFreeConnectionError || error instanceof UnstoredError) throw error
    observe(error instanceof LaterError ? 'postponed' : 'failed')
    if (error instanceof LaterError)
      await storeOutcome(wallet, (opened) => opened.transaction((tx) => reschedule(tx, job, error.at)))
    else await handleFailure(wallet, composition, job, at, error)
  }
}

/** Deletes a job with its outcome. @throws {UnstoredError} */
async function end(wallet: Wallet, id: string, write: (tx: Tx) => Promise<unknown>): Promise<void> {
  let isRepeated = false
  await storeOutcome(wallet, (opened) =>
    opened.transaction(async (tx) => {
      // A commit is unknown if the database went away during it.
      if (!(await deleteJob(tx, id)) && isRepeated) return
      isRepeated = true
      await write(tx)
    }),
  )
}

async function send(
  wallet: Wallet,
  composition: Composition,
  job: Job,
  body: MessageBody,
): Promise<(tx: Tx) => Promise<unknown>> {
  const attempt = await sendMessage(wallet, job.id, body, composition.resolverOf(wallet, body.from))
  const { protocol: name, recordId } = body
  const protocol = composition.protocols[name]
  return async (tx) => {
    await logMessage(tx, composition, job, body, attempt)
    if (protocol) await confirmSent(tx, protocol, await getRecord(tx, protocol, recordId))
    else await composition.outcomes[name]?.(tx, recordId)
  }
}

function logMessage(
  tx: Tx,
  { threadOf }: Composition,
  job: Job,
  { from, to, message }: MessageBody,
  attempt: Attempt,
): Promise<void> {
  const about = { id: job.id, thread: threadOf({ id: job.id, ...message }), type: message.type, from, to }
  return logSent(tx, about, job, attempt)
}

/**
 * Reschedules a failed job. Abandons a message that the other side refused or that was retried for
 * `MESSAGE_RETRY_FOR`, and a task that can never succeed.
 */
async function handleFailure(
  wallet: Wallet,
  composition: Composition,
  job: Job,
  at: Date,
  error: unknown,
): Promise<void> {
  const { log, config } = wallet.env
  const { id, body, attempts } = job
  const endsAt =
    body.kind === 'message' ? Date.parse(job.createdAt) + config.MESSAGE_RETRY_FOR * 1_000 : Infinity
  const isRefused = error instanceof NotDelivered && error.isFinal
  const isFinal = isRefused || steadyNow() >= endsAt
  const fields = fieldsOf(wallet, job)
  const isHopeless =
    body.kind === 'task' && composition.protocols[body.protocol] !== undefined && isForGood(error)
  if (isHopeless) log.warn({ ...fields, err: error }, 'a task cannot succeed')
  else if (isFinal)
    log.warn({ ...fields, err: error }, isRefused ? 'a message was refused' : 'a message was abandoned')
  else if ((attempts + 1) % 10 === 0) log.warn({ ...fields, err: error }, 'a job has failed ten more times')
  else log.info({ ...fields, reason: (error as Error).message }, 'a job failed and is rescheduled')

  const failure = toFailure(error)
  // The reason of the last attempt is more useful than the pause before the next attempt at this server.
  const reason = (error instanceof ServerDownError ? job.reason : undefined) ?? failure.detail
  if (isFinal && !isRefused)
    failure.detail = `Abandoned after ${attempts + 1} attempts since ${job.createdAt}: ${failure.detail}`
  const dueAt = Math.min(endsAt, steadyNow() + pauseMs(error, job))
  const span = activeSpan()
  span?.fail((error as Error).name)
  if (isFinal) {
    span?.event(isRefused ? 'refused' : 'abandoned')
    await end(wallet, id, async (tx) => {
      // Stored value; the message log shows it in traces.
      const outcome = isRefused ? 'refused' : 'given up'
      if (body.kind === 'message')
        await logMessage(tx, composition, job, body, { at, failure: { outcome, reason } })
      await noteFailure(tx, composition, body, failure, true)
    })
    return
  }
  await storeOutcome(wallet, async (opened) => {
    const isEnded = await opened.transaction(async (tx) => {
      if (isHopeless && (await endFailed(tx, composition, body, failure))) return deleteJob(tx, id)
      await reschedule(tx, job, new Date(dueAt), new Date(steadyNow()), reason.slice(0, reasonLimit))
      await noteFailure(tx, composition, body, failure, false)
      return false
    })
    if (isEnded) span?.event('ended')
    else span?.event('rescheduled', { 'identity_agent.job.pause_ms': Math.round(dueAt - steadyNow()) })
  })
}

/**
 * The log fields of an attempt. The thread id is in the other side's log too, the record id in the log of the
 * request that caused the job.
 */
function fieldsOf(wallet: Wallet, { id, queue, attempts, body }: Job): Fields {
  const { recordId } = body
  const sent =
    body.kind === 'message' ? { messageId: id, thid: body.message.thid ?? id, type: body.message.type } : {}
  return { walletId: wallet.id, queue, recordId, ...sent, attempts: attempts + 1 }
}

/** Stores a failure in the record. A protocol without records stores only the final failure. */
async function noteFailure(
  tx: Tx,
  { protocols, outcomes }: Composition,
  body: JobBody,
  failure: Failure,
  isFinal: boolean,
): Promise<void> {
  const { protocol: name, recordId } = body
  const protocol = protocols[name]
  if (!protocol) {
    if (isFinal) await outcomes[name]?.(tx, recordId, failure.detail)
    return
  }
  const record = await findRecord(tx, protocol, recordId)
  // The answer may have come nevertheless, and moved the record.
  if (!record || !waitsFor(protocol, record, body)) return
  // The reason why the flow has ended matters more than a failed report of it.
  const metaLastFailure = hasReason(protocol, record) ? record.metaLastFailure : failure
  await updateData(tx, record, {
    metaRetries: isFinal ? 0 : Math.max(0, record.metaRetries - 1),
    metaLastFailure,
  })
}

/**
 * Whether a record waits for the outcome of a job: a message to be sent, or the task that led to its state,
 * unless the flow is over.
 */
function waitsFor(protocol: Protocol, record: Rec, body: JobBody): boolean {
  return body.kind === 'message'
    ? findRow(protocol, record.role, record.state, 'sent') !== undefined
    : waitsForTask(protocol, record, body.task)
}

function hasReason({ states }: Protocol, { state, metaLastFailure }: Rec): boolean {
  return states[state]?.ends !== undefined && (metaLastFailure?.type ?? notDelivered) !== notDelivered
}

/**
 * The pause before the next attempt: the other side's `Retry-After`, the pause for an unreachable server, or
 * the backoff.
 */
function pauseMs(error: unknown, job: Job): number {
  if (error instanceof ServerDownError) return error.waitMs * (1 + Math.random() / 2)
  return Math.max(backoffMs(job), (error instanceof NotDelivered && error.waitMs) || 0)
}

/**
 * Exponential backoff with jitter of up to a half. A pause is at most a quarter of the job's age, so that a
 * message is sent soon after a short outage.
 */
function backoffMs({ attempts, createdAt }: Job): number {
  const ageMs = steadyNow() - Date.parse(createdAt)
  const longest = Math.min(
    longestPauseMs,
    firstPauseMs * 2 ** Math.min(attempts, 20),
    Math.max(firstPauseMs, ageMs / 4),
  )
  return longest * (0.5 + Math.random() / 2)
}

const notDelivered = 'NotDelivered'

type Failure = { status: number; type: string; title: string; detail: string }

function toFailure(error: unknown): Failure {
  if (error instanceof Problem)
    return { status: error.status, type: error.type, title: error.title, detail: error.message }
  return { status: 502, type: notDelivered, title: notDelivered, detail: (error as Error).message }
}
