/** Routing 2.0: takes a packed message for somebody who is enrolled (wire.md 7.1). Whoever forwards need not say who they are. */
import { z } from 'zod'
import { fromUtf8 } from '../base/bytes.ts'
import { reasonOf } from '../base/reason.ts'
import { readJson } from '../didcomm/json.ts'
import { attachmentBytes, type PlaintextMessage } from '../didcomm/message.ts'
import type { MediatorTx } from '../storage/database.ts'
import { accountOf } from './accounts.ts'
import { enqueue, idOf, type Waiting } from './queue.ts'
import { notServed, Refusal } from './refusal.ts'
import { readBody, type House } from './request.ts'
import { routeKey } from './route-key.ts'

export const forwardType = 'https://didcomm.org/routing/2.0/forward'

const Forward = z.object({
  next: z
    .string()
    .regex(/^did:[a-z0-9]+:\S+$/, 'is not a DID or the id of a key')
    .max(60_000),
})

/** As much of a JWE as shows that it is one; only its recipient can tell more. */
const Jwe = z.looseObject({
  protected: z.string(),
  ciphertext: z.string(),
  recipients: z.array(z.looseObject({})).min(1),
})

/** Reads a forward: whom it is for, and the packed message. @throws {Refusal} `e.p.msg` */
export function readForward(message: PlaintextMessage): { next: string; envelope: string } {
  const { next } = readBody(message, Forward)
  const [attachment, ...more] = message.attachments ?? []
  if (!attachment || more.length > 0)
    throw new Refusal('e.p.msg', 'A forward has one attachment, the packed message.')
  try {
    const envelope = fromUtf8(attachmentBytes(attachment))
    Jwe.parse(readJson(envelope))
    return { next, envelope }
  } catch (error) {
    throw new Refusal('e.p.msg', 'The attachment is not an encrypted message, {1}.', reasonOf(error))
  }
}

/**
 * Queues a forwarded message.
 *
 * @throws {Refusal} `e.p.req.not_enroll` when nobody takes messages for `next`, `e.p.me.res.storage` when the queue is full.
 */
export async function queueForward(
  tx: MediatorTx,
  house: House,
  { next, envelope }: { next: string; envelope: string },
): Promise<Waiting> {
  const recipient = routeKey(next)
  const account = await accountOf(tx, recipient)
  if (account === undefined) throw notServed(next)
  const waiting = { id: idOf(envelope), recipient, account, envelope }
  await enqueue(tx, house.limits, waiting, new Date(house.now()).toISOString())
  return waiting
}
