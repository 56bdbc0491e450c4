/**
 * Messages that belong to no state table: pings, replies, problem reports and basic messages. They are jobs
 * in one queue per connection, so that they survive a restart and keep their order.
 */
import type { Attachment } from '../didcomm/message.ts'
import { enqueue } from '../../wallet/outbox/job.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { findRecordIdOfPeerDid } from '../../wallet/peer-dids.ts'
import type { Received } from '../engine/receive.ts'

/**
 * Replies that may wait in a queue. A peer that asks repeatedly and accepts no reply must not fill the
 * wallet's file.
 */
const replyLimit = 20

/** A message to send. `outcomes` in `index.ts` finds the protocol by `protocol`, and passes it `recordId`. */
export type StatelessMessage = {
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

/** Enqueues a message. Returns its id. */
export async function enqueueMessage(tx: Tx, message: StatelessMessage): Promise<string> {
  return enqueue(tx, await queueOf(tx, message.from), { kind: 'message', ...message })
}

/** Enqueues a reply to a message, unless too many replies wait in the queue. */
export async function enqueueReply(
  tx: Tx,
  received: Received,
  protocol: string,
  message: StatelessMessage['message'],
): Promise<void> {
  const queue = await queueOf(tx, received.to)
  const { waiting } = await tx
    .selectFrom('job')
    .where('queue', '=', queue)
    .select((eb) => eb.fn.countAll().as('waiting'))
    .executeTakeFirstOrThrow()
  if (Number(waiting) >= replyLimit) return
  await enqueue(tx, queue, {
    kind: 'message',
    protocol,
    recordId: received.id,
    from: received.to,
    to: received.from,
    message,
  })
}

/** The queue of a peer DID of the wallet. Each connection has its own DID. */
async function queueOf(db: Db, myDid: string): Promise<string> {
  return `notices:${(await findRecordIdOfPeerDid(db, myDid)) ?? ''}`
}
