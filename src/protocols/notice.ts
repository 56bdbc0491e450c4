/**
 * Messages outside of the state tables: pings, answers, problem reports, basic messages. They are jobs like all messages, in one queue for each
 * connection, so that they survive a restart and keep their order.
 */
import { z } from 'zod'
import { Problem } from '../base/problem.ts'
import type { Attachment } from '../didcomm/message.ts'
import { enqueue } from '../outbox/job.ts'
import type { Db, Tx } from '../storage/database.ts'
import { findRecordIdOfPeerDid } from '../wallet/peer-dids.ts'
import { findPeers, type Peers } from './connection/peers.ts'
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
export async function putNotice(tx: Tx, { from, ...notice }: Notice): Promise<string> {
  return enqueue(tx, await queueOf(tx, from), { kind: 'message', from, ...notice })
}

/** Enqueues an answer to a message, unless too many answers wait in the queue. */
export async function putAnswer(
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

/** What a record may say of its two sides, whichever protocol it is of. */
const Sides = z.looseObject({ myDid: z.string().optional(), theirDid: z.string().optional() })

/**
 * Makes sure that a message comes from the other side that one of our DIDs was made for, over a connection or after an
 * invitation of another kind. With `admitHolder` whoever holds an invitation that nobody has answered may come, too: they could as well
 * accept it. It is called for them, and may refuse.
 *
 * @throws {Problem} `SenderNotAllowed` for strangers, who are told nothing and cost no row.
 */
export async function mustKnow(
  db: Db,
  { from, to, type }: Received,
  { admitHolder }: { admitHolder?: () => Promise<void> } = {},
): Promise<void> {
  const id = await findRecordIdOfPeerDid(db, to)
  const row =
    id === undefined
      ? undefined
      : await db.selectFrom('record').select(['state', 'data']).where('id', '=', id).executeTakeFirst()
  if (admitHolder && row?.state === 'InvitationGenerated') return admitHolder()
  const sides = row && Sides.parse(JSON.parse(row.data))
  if (sides?.theirDid !== from || sides.myDid !== to) throw notAllowed(type)
}

/** The connection over which a message came. @throws {Problem} `SenderNotAllowed` when it came over none. */
export async function getSenders(db: Db, { from, to, type }: Received): Promise<Peers> {
  const peers = await findPeers(db, from, to)
  if (!peers) throw notAllowed(type)
  return peers
}

function notAllowed(type: string): Problem {
  const detail = `The message of type ${type.slice(0, 200)} does not come from anybody this wallet has to do with.`
  return new Problem('error:DIDCommControllerError:SenderNotAllowed', detail)
}

/** The queue of a peer DID of the wallet: each connection has a DID of its own. */
async function queueOf(db: Db, ourDid: string): Promise<string> {
  return `notices:${(await findRecordIdOfPeerDid(db, ourDid)) ?? ''}`
}
