/**
 * A message inside an invitation: the offer or the request that needs no connection (DIDComm v2.1, Out Of Band; wire.md 2.3).
 *
 * It is not encrypted and proves nothing. Its `from` is one text as it is everywhere, its `to` is left out, because nobody knows
 * yet who will read it; attachments name their media type, which they do nowhere else.
 */
import { z } from 'zod'
import { Did } from '../did/document.ts'
import { isObject, withoutNulls } from './json.ts'
import type { OutOfBandInvitation } from './invitation.ts'
import { Attachment, attachmentJson, PlaintextMessage } from './message.ts'

const mediaType = 'application/json'

/** A message whose sender is only said, by the invitation around it. */
export const EmbeddedMessage = PlaintextMessage.extend({
  from: Did.optional(),
  attachments: z.array(Attachment),
})
export type EmbeddedMessage = z.infer<typeof EmbeddedMessage>

/** What a message to be embedded says. */
export type ToEmbed = {
  id: string
  type: string
  body: Record<string, unknown>
  attachments: Attachment[]
  thid: string
  from: string
}

/** Writes a message as the one attachment of an invitation, with the members, and in the order, of the real agent's. */
export function embedMessage(
  attachmentId: string,
  { id, type, body, attachments, thid, from }: ToEmbed,
): Attachment {
  const named = attachments.map(({ id: inner, data, format }) => ({
    id: inner,
    media_type: mediaType,
    data,
    format,
  }))
  return {
    id: attachmentId,
    media_type: mediaType,
    data: { json: { id, type, body, attachments: named, thid, from } },
  }
}

/**
 * Reads the message in an invitation's first attachment, written as JSON or as base64 of it; `undefined` when the invitation
 * carries nothing, and is one to connect.
 *
 * @throws {z.ZodError | TypeError | Problem} when it is no message, or names another sender than the invitation.
 */
export function readEmbedded({ from, attachments }: OutOfBandInvitation): EmbeddedMessage | undefined {
  const [first] = attachments ?? []
  if (!first) return undefined
  const value = attachmentJson(first)
  const message = EmbeddedMessage.parse(isObject(value) ? withoutNulls(value) : value)
  if (message.from !== undefined && message.from !== from)
    throw new TypeError('the message in it is from somebody else than it is')
  return message
}
