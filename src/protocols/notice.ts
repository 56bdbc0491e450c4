/**
 * Messages outside of the state tables: pings, answers, problem reports, basic messages. They are jobs like all messages, in one queue for each
 * connection, so that they survive a restart and keep their order.
 */
import type { Attachment } from '../didcomm/message.ts'
import { enqueue } from '../outbox/job.ts'
import type { Db, Tx } from '../storage/database.ts'
import { findRecordIdOfPeerDid } from '../wallet/peer-dids.ts'
import type { Received } from './engine/receive.ts'

/** Answers that may wait in a queue: a peer that asks again and again and accepts no answer must not fill the wallet's file. */
const waitingAnswers = 20

/** A message to send: `protocol` and `recordId` say what it is for, and what is told of its outcome (`outcomes` in `index.ts`). */
export type Notice = {
  protocol: string
  recordId: string
  from: string
  to: string
  message: {
    type: string
    thid?: string
    pthid?: string
    body: Record<string, unknown>
    attachments?: Attachment[]
  }
}

/** Enqueues a message; returns its id. */
export async function enqueueMessage(tx: Tx, { from, ...notice }: Notice): Promise<string> {
  return enqueue(tx, await queueOf(tx, from), { kind: 'message', from, ...notice })
}

/** Enqueues an answer to a message, unless too many answers wait in the queue. */
export async function enqueueReply(
  tx: Tx,
  received: Received,
  protocol: string,
  message: Notice['message'],
): Promise<void> {
  const queue = await queueOf(tx, received.to)
  const { waiting } = await tx
    .selectFrom('job')
    .where('queue', '=', queue)
    .select((eb) => eb.fn.countAll().as('waiting'))
    .executeTakeFirstOrThrow()
  if (Number(waiting) >= waitingAnswers) return
  await enqueue(tx, queue, {
    kind: 'message',
    protocol,
    recordId: received.id,
    from: received.to,
    to: received.from,
    message,
  })
}

/** The queue of a peer DID of the wallet: each connection has a DID of its own. */
async function queueOf(db: Db, ourDid: string): Promise<string> {
  return `notices:${(await findRecordIdOfPeerDid(db, ourDid)) ?? ''}`
}
