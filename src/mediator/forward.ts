/** Routing 2.0: forwards from any sender to the recipients of this mediator's accounts. */
import * as z from 'zod'
import { fromUtf8 } from '../base/bytes.ts'
import { reasonOf } from '../base/reason.ts'
import { parseJson } from '../base/json.ts'
import { attachmentBytes, type PlaintextMessage } from '../didcomm/message.ts'
import type { MediatorTx } from '../storage/database.ts'
import { findAccount } from './accounts.ts'
import { type MediatorContext, notServed, readBody, Refusal, toRouteKey } from './handler.ts'
import { enqueue, type QueuedMessage, queueIdOf } from './queue.ts'

const ForwardBody = z.object({
  next: z
    .string()
    .regex(/^did:[a-z0-9]+:\S+$/, 'is not a DID or the id of a key')
    .max(60_000),
})

/** The members of every JWE. Only the recipient can check more. */
const Jwe = z.looseObject({
  protected: z.string(),
  ciphertext: z.string(),
  recipients: z.array(z.looseObject({})).min(1),
})

/** Reads a forward: the next hop, and the packed message. @throws {Refusal} `e.p.msg` */
export function readForward(message: PlaintextMessage): { next: string; envelope: string } {
  const { next } = readBody(message, ForwardBody)
  const [attachment, ...more] = message.attachments ?? []
  if (!attachment || more.length > 0)
    throw new Refusal('e.p.msg', 'A forward has one attachment, the packed message.')
  try {
    const envelope = fromUtf8(attachmentBytes(attachment))
    Jwe.parse(parseJson(envelope))
    return { next, envelope }
  } catch (error) {
    throw new Refusal('e.p.msg', 'The attachment is not an encrypted message, {1}.', reasonOf(error))
  }
}

/**
 * Queues a forwarded message.
 *
 * @throws {Refusal} `e.p.req.not_enroll` when no account has registered `next`, `e.p.me.res.storage` when the
 * queue is full.
 */
export async function queueForward(
  tx: MediatorTx,
  { config, now }: MediatorContext,
  { next, envelope }: { next: string; envelope: string },
): Promise<QueuedMessage> {
  const recipient = toRouteKey(next)
  const account = await findAccount(tx, recipient)
  if (account === undefined) throw notServed(next)
  const message = { id: queueIdOf(envelope), recipient, account, envelope }
  await enqueue(tx, config, message, new Date(now()).toISOString())
  return message
}
