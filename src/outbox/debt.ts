/** What a wallet has promised: a message to send, or work to do. */
import { z } from 'zod'

/** What a message says; its id, sender, recipient and time are added when it is sent. */
const Content = z.object({
  type: z.string(),
  /** Absent: the message begins a thread of its own. */
  thid: z.string().optional(),
  pthid: z.string().optional(),
  body: z.looseObject({}),
  attachments: z.array(z.looseObject({ data: z.looseObject({}) })).optional(),
})

/** A message to send for a record, or for a protocol that has no records but something that its id names; or work to do for a record or a DID. */
export const Debt = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('message'), protocol: z.string(), recordId: z.string(), from: z.string(), to: z.string(), message: Content }),
  z.object({ kind: z.literal('work'), protocol: z.string(), recordId: z.string(), work: z.string() }),
])
export type Debt = z.infer<typeof Debt>

/**
 * A debt as it stands in its lane; the id is the DIDComm message's id as well, the same on every attempt. `eventSequence` is the place of the
 * last event before it, `reason` why it was put off the last time.
 */
export type Owing = {
  id: string
  lane: string
  attempts: number
  createdAt: string
  debt: Debt
  eventSequence: number
  reason?: string
}

/** A debt that was promised just now; `isFirst` when nothing is before it in its lane. */
export type Promised = Owing & { isFirst: boolean }
