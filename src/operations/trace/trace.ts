/** The trace of a thread (extension), assembled on request from the wallet's logs. */
import { deliveriesOf } from '../../wallet/events/delivery-log.ts'
import { eventsAfter } from '../../wallet/events/event.ts'
import { messagesOf } from '../../wallet/outbox/message-log.ts'
import { listRecords } from '../../exchange/engine/find.ts'
import { protocols } from '../../exchange/all-protocols.ts'
import type { Db } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { findThread } from './find.ts'
import type { Pending, Trace, TracedRecord } from './model.ts'
import {
  findThreadJobs,
  findPendingDeliveries,
  toPendingJob,
  topicOf,
  expiresAtOf,
  toPendingTransition,
  type Traced,
} from './pending.ts'
import { toSteps } from './steps.ts'

/** The limits of a trace: events, messages, and attempts to deliver the events. */
const longest = 1_000
const deliveryLimit = 10_000

/**
 * The steps of a thread, and what it waits for. `id` is the id of the thread, of a record, an event or a
 * ping, or a part of one.
 *
 * @throws {Problem} `NotFound`; `BadRequest` if several match
 */
export async function getTrace(wallet: Wallet, id: string): Promise<Trace> {
  const { db, id: walletId, env } = wallet
  await wallet.flush()
  const thid = await findThread(db, id)
  const events = await eventsAfter(db, walletId, 0, longest + 1, { subject: thid })
  const messages = await messagesOf(db, thid, longest + 1)
  const shown = events.slice(0, longest)
  const sequences = shown.map(({ sequence }) => sequence)
  const deliveries = await deliveriesOf(db, sequences, deliveryLimit + 1)
  const steps = toSteps({
    events: shown,
    messages: messages.slice(0, longest),
    deliveries: deliveries.slice(0, deliveryLimit),
  })

  const traced = await findTraced(db, thid)
  const jobs = await findThreadJobs(db, thid, traced)
  const idle = traced.filter(({ record }) => !jobs.some(({ body }) => body.recordId === record.id))
  const pending = [
    ...jobs.map((each) => toPendingJob(each, traced)),
    ...idle.flatMap((each) => toPendingTransition(each, env.config.FLOW_EXPIRY) ?? []),
    ...(await findUnanswered(db, thid, jobs.length > 0)),
    ...(await findPendingDeliveries(db, shown)),
  ]
  return {
    thid,
    ...(steps[0] && { startedAt: steps[0].at }),
    records: traced.map(toTracedRecord),
    steps,
    pending,
    isCut: events.length > longest || messages.length > longest || deliveries.length > deliveryLimit,
  }
}

/** The records of a thread: two if one wallet has both sides. */
async function findTraced(db: Db, thid: string): Promise<Traced[]> {
  const found = await Promise.all(
    Object.values(protocols).map(async (protocol) => {
      const { records } = await listRecords(db, protocol, { offset: 0, limit: 10, thid })
      return records.map((record) => ({ protocol, record }))
    }),
  )
  return found.flat()
}

function toTracedRecord(traced: Traced): TracedRecord {
  const { protocol, record } = traced
  const { id, role, state } = record
  const { metaLastFailure } = record as { metaLastFailure?: { title: string; detail?: string } }
  const expiresAt = expiresAtOf(traced)
  const failure = metaLastFailure?.detail ?? metaLastFailure?.title
  return {
    topic: topicOf(protocol),
    id,
    role,
    state,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(failure !== undefined && { failure }),
  }
}

/** A delivered ping without a reply. */
async function findUnanswered(db: Db, thid: string, hasJobs: boolean): Promise<Pending[]> {
  if (hasJobs) return []
  const ping = db
    .selectFrom('ping')
    .select('sent_at')
    .where('thid', '=', thid)
    .where('answered_at', 'is', null)
  const found = await ping.where('failure', 'is', null).executeTakeFirst()
  return found ? [{ what: 'answer', since: found.sent_at }] : []
}
