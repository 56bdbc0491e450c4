/** Basic messages: the request of the API and the REST resource (extension). */
import * as z from 'zod'
import type { Selectable } from 'kysely'
import type { WalletTables } from '../../../foundation/storage/wallet-tables.ts'

export const basicMessage = {
  name: 'basic-message',
  messages: { message: 'https://didcomm.org/basicmessage/2.0/message' },
} as const

/** The longest message, in characters. With its envelope it stays below the size limit of endpoints. */
const maxLength = 100_000

export const SendMessage = z
  .object({
    connectionId: z.guid().describe('The connection over which the message is sent.'),
    content: z.string().min(1).max(maxLength).describe('The text of the message.'),
  })
  .meta({ id: 'SendMessageRequest' })
export type SendMessage = z.output<typeof SendMessage>

export const Message = z
  .object({
    messageId: z.guid(),
    connectionId: z.string(),
    direction: z.enum(['sent', 'received']),
    content: z.string(),
    lang: z.string().optional(),
    createdAt: z.iso.datetime().describe('When this agent accepted the message.'),
    sentAt: z.iso
      .datetime()
      .optional()
      .describe(
        'Received: when the other side says that it sent the message. Sent: when the other side’s endpoint accepted it.',
      ),
    failure: z.string().optional().describe('Why the message was abandoned.'),
  })
  .meta({ id: 'BasicMessage' })
export type Message = z.infer<typeof Message>

/** The REST resource of a message. */
export function toMessage(row: Selectable<WalletTables['message']>): Message {
  return {
    messageId: row.id,
    connectionId: row.connection_id,
    direction: row.direction,
    content: row.content,
    lang: row.lang ?? undefined,
    createdAt: row.created_at,
    sentAt: row.sent_at ?? undefined,
    failure: row.failure ?? undefined,
  }
}
