/**
 * Forwards of routing 2.0 (DIDComm v2.1, Routing; wire.md 7.1): an envelope inside a message for a mediator, which passes it
 * on to `next`. Written as the real agent does it: for nobody's account (anoncrypt), the envelope as a JSON attachment.
 */
import { z } from 'zod'
import { attachmentJson, type PlaintextMessage } from './message.ts'
import { packAnoncrypt } from './pack.ts'
import type { Hop } from './route.ts'

export const forwardType = 'https://didcomm.org/routing/2.0/forward'

export const ForwardBody = z.looseObject({
  /** The DID, or the key, that the envelope goes to next. */
  next: z.string().min(1).max(4_000),
})

/**
 * Wraps an envelope, JSON text, for every station of its way, the one nearest to the other side first. `newId` makes
 * the ids of the forwards.
 *
 * @returns what the last station takes, JSON text to be sent as `application/didcomm-encrypted+json`.
 */
export function wrapForward(envelope: string, hops: readonly Hop[], newId: () => string): string {
  return hops.reduce((inner, { next, did, recipient }) => {
    const attachment = { id: newId(), data: { json: JSON.parse(inner) as unknown } }
    const forward = { id: newId(), type: forwardType, to: [did], body: { next }, attachments: [attachment] }
    return packAnoncrypt(forward, { recipients: [recipient] })
  }, envelope)
}

/**
 * Reads a forward: who is next, and the envelopes, as parsed JSON, whether they came as JSON or as base64.
 *
 * @throws {z.ZodError} when there is no `next`.
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` when an attachment cannot be read.
 */
export function readForward({ body, attachments = [] }: PlaintextMessage): {
  next: string
  envelopes: unknown[]
} {
  return { next: ForwardBody.parse(body).next, envelopes: attachments.map(attachmentJson) }
}
