/** Routing 2.0: forwards from any sender to the recipients of this mediator's accounts. */
import * as z from 'zod'
import { fromUtf8 } from '../../foundation/bytes.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { parseJson } from '../../foundation/json.ts'
import { attachmentBytes, type PlaintextMessage } from '../didcomm/message.ts'
import type { MediatorTx } from '../../foundation/storage/database.ts'
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

/** The most messages of a forward: the limit of messages by the minute counts a forward once. */
const maxEnvelopes = 10

/**
 * Reads a forward: the next hop, and the packed messages, of which there are usually one.
 *
 * @throws {Refusal} `e.p.msg`
 */
export function readForward(message: PlaintextMessage): { next: string; envelopes: string[] } {
  const { next } = readBody(message, ForwardBody)
  const { attachments = [] } = message
  if (attachments.length === 0)
    throw new Refusal('e.p.msg', 'The forward has no attachment: the packed message is missing.')
  if (attachments.length > maxEnvelopes)
    throw new Refusal('e.p.msg', 'The forward has more than {1} attachments.', String(maxEnvelopes))
  try {
    const envelopes = attachments.map((attachment) => fromUtf8(attachmentBytes(attachment)))
    for (const envelope of envelopes) Jwe.parse(parseJson(envelope))
    return { next, envelopes }
  } catch (error) {
    throw new Refusal('e.p.msg', 'The attachment is not an encrypted message, {1}.', reasonOf(error))
  }
}

/**
 * Queues the messages of a forward.
 *
 * @throws {Refusal} `e.p.req.not_enroll` when no account has registered `next`, `e.p.me.res.storage` when the
 * queue is full.
 */
export async function queueForward(
  tx: MediatorTx,
  { config, now }: MediatorContext,
  { next, envelopes }: ReturnType<typeof readForward>,
): Promise<QueuedMessage[]> {
  const recipient = toRouteKey(next)
  const account = await findAccount(tx, recipient)
  if (account === undefined) throw notServed(next)
  const messages = envelopes.map((envelope) => ({ id: queueIdOf(envelope), recipient, account, envelope }))
  for (const message of messages) await enqueue(tx, config, message, new Date(now()).toISOString())
  return messages
}
