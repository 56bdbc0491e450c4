/** Processes one job of the outbox: sends the message or runs the task, and deletes the job in the transaction that stores the result. */
import { steadyNow } from '../../base/clock.ts'
import type { Fields } from '../../base/log.ts'
import { Problem } from '../../base/problem.ts'
import { CrowdedError, LeftAloneError } from '../../net/destinations.ts'
import { logSent, type Attempt } from '../../outbox/message-log.ts'
import { deleteJob, reschedule, type Job, type JobBody, type MessageBody } from '../../outbox/job.ts'
import { outcomes, protocols, tasks } from '../index.ts'
import { findRecord, getRecord } from './find.ts'
import { findRow } from './machine.ts'
import { flowExpired } from '../model.ts'
import { updateData, confirmSent, type Rec } from './record.ts'
import { NotDelivered, sendMessage } from './send.ts'
import { threadOf } from './receive.ts'
import type { Tx } from '../../storage/database.ts'
import { LaterError } from '../../wallet/task.ts'
import type { Wallet } from '../../wallet/wallet.ts'

/** The shortest and the longest pause between two attempts. */
const firstPauseMs = 250
const longestPauseMs = 60_000

/** How much of the reason is kept with a rescheduled job; a peer may have chosen the text. */
const reasonLimit = 1_000

/** Processes a job. After a failure it reschedules the job and notes the reason on its record. @throws {CrowdedError} when the destination has no free connection. */
export async function processJob(wallet: Wallet, job: Job): Promise<void> {
  const { id, body } = job
  const at = new Date()
  try {
    const write =
      body.kind === 'message' ? await send(wallet, job, body) : await tasks[body.task]!(wallet, body.recordId)
    await wallet.transaction(async (tx) => {
      await deleteJob(tx, id)
      await write(tx)
    })
    if (body.kind === 'message') wallet.env.log.debug(fieldsOf(wallet, job), 'a message was sent')
  } catch (error) {
    if (error instanceof CrowdedError) throw error
    if (error instanceof LaterError) await wallet.transaction((tx) => reschedule(tx, job, error.at))
    else await handleFailure(wallet, job, at, error)
  }
}

async function send(wallet: Wallet, job: Job, body: MessageBody): Promise<(tx: Tx) => Promise<unknown>> {
  const attempt = await sendMessage(wallet, job.id, body)
  const { protocol: name, recordId } = body
  const protocol = protocols[name]
  return async (tx) => {
    await logMessage(tx, job, body, attempt)
    if (protocol) await confirmSent(tx, protocol, await getRecord(tx, protocol, recordId))
    else await outcomes[name]?.(tx, recordId)
  }
}

function logMessage(tx: Tx, job: Job, { from, to, message }: MessageBody, attempt: Attempt): Promise<void> {
  const about = { id: job.id, thread: threadOf({ id: job.id, ...message }), type: message.type, from, to }
  return logSent(tx, about, job, attempt)
}

/** Reschedules a job that failed, or abandons a message that the other side refused for good or that was retried for `MESSAGE_RETRY_FOR`. */
async function handleFailure(wallet: Wallet, job: Job, at: Date, error: unknown): Promise<void> {
  const { log, config } = wallet.env
  const { id, body, attempts } = job
  const endsAt =
    body.kind === 'message' ? Date.parse(job.createdAt) + config.MESSAGE_RETRY_FOR * 1_000 : Infinity
  const isRefused = error instanceof NotDelivered && error.isFinal
  const isFinal = isRefused || steadyNow() >= endsAt
  const fields = fieldsOf(wallet, job)
  if (isFinal)
    log.warn({ ...fields, err: error }, isRefused ? 'a message was refused' : 'a message was abandoned')
  else if ((attempts + 1) % 10 === 0) log.warn({ ...fields, err: error }, 'a job has failed ten more times')
  else log.info({ ...fields, reason: (error as Error).message }, 'a job failed and is rescheduled')

  const failure = toFailure(error)
  // The failure of the last attempt says more than that the server is not asked for now.
  const reason = (error instanceof LeftAloneError ? job.reason : undefined) ?? failure.detail
  if (isFinal && !isRefused)
    failure.detail = `Abandoned after ${attempts + 1} attempts since ${job.createdAt}: ${failure.detail}`
  const dueAt = Math.min(endsAt, steadyNow() + pauseMs(error, job))
  await wallet.transaction(async (tx) => {
    if (!isFinal)
      await reschedule(tx, job, new Date(dueAt), new Date(steadyNow()), reason.slice(0, reasonLimit))
    else {
      await deleteJob(tx, id)
      const outcome = isRefused ? 'refused' : 'given up'
      if (body.kind === 'message') await logMessage(tx, job, body, { at, failure: { outcome, reason } })
    }
    await noteFailure(tx, body, failure, isFinal)
  })
}

/** The log fields of an attempt. The thread id leads to the other side's log, the record id to the request that caused the job. */
function fieldsOf(wallet: Wallet, { id, queue, attempts, body }: Job): Fields {
  const { recordId } = body
  const sent =
    body.kind === 'message' ? { messageId: id, thid: body.message.thid ?? id, type: body.message.type } : {}
  return { walletId: wallet.id, queue, recordId, ...sent, attempts: attempts + 1 }
}

/** Notes a failure on the record (api.md 5.1), or, for a protocol without records, reports it to the protocol once it is final. */
async function noteFailure(
  tx: Tx,
  { kind, protocol: name, recordId }: JobBody,
  failure: Failure,
  isFinal: boolean,
): Promise<void> {
  const protocol = protocols[name]
  if (!protocol) {
    if (isFinal) await outcomes[name]?.(tx, recordId, failure.detail)
    return
  }
  const record = await findRecord(tx, protocol, recordId)
  // A record that has moved on meanwhile, because the answer came all the same, is not changed.
  if (!record || !findRow(protocol, record.role, record.state, kind === 'message' ? 'sent' : 'made')) return
  // The reason why the flow ended matters more than a failed report of it.
  const metaLastFailure = isExpired(record) ? record.metaLastFailure : failure
  await updateData(tx, protocol, record, {
    metaRetries: isFinal ? 0 : Math.max(0, record.metaRetries - 1),
    metaLastFailure,
  })
}

function isExpired({ state, metaLastFailure }: Rec): boolean {
  return state === 'ProblemReportPending' && metaLastFailure?.type === flowExpired.type
}

/** The pause before the next attempt: what the other side asked for, or the time for which a dead server is not asked. */
function pauseMs(error: unknown, job: Job): number {
  if (error instanceof LeftAloneError) return error.waitMs * (1 + Math.random() / 2)
  return Math.max(backoffMs(job), (error instanceof NotDelivered && error.waitMs) || 0)
}

/**
 * Exponential backoff. No pause is longer than a quarter of the job's age, so that a message follows soon after a short outage; each is shortened
 * at random by up to a half, so that many jobs do not come back at once.
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

type Failure = { status: number; type: string; title: string; detail: string }

function toFailure(error: unknown): Failure {
  if (error instanceof Problem)
    return { status: error.status, type: error.type, title: error.title, detail: error.message }
  return { status: 502, type: 'NotDelivered', title: 'NotDelivered', detail: (error as Error).message }
}
