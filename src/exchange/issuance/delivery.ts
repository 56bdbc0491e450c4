/**
 * How an offer of OpenID4VCI reaches its person: the tenant sends a link, and a transaction code on another
 * channel.
 */
import * as z from 'zod'
import { Locale } from '../../foundation/locale.ts'
import { optional } from '../../wallet/model.ts'

/** One address without further members, which could add recipients (RFC 6068 §2, RFC 5724). */
const Address = z
  .string()
  .max(320)
  .regex(
    /^(?:mailto:[\w.!#$'*+/=^`{|}~-]+@[a-z\d-]+(?:\.[a-z\d-]+)+|sms:\+\d{6,15})$/i,
    'is not the URI of one address, such as mailto:alice@example.org or sms:+4915112345678',
  )

export const Deliver = z
  .object({
    to: Address.describe('Where the link is sent: a `mailto:` or `sms:` URI.'),
    code: optional(Address).describe('Where the transaction code is sent, which the offer then requires.'),
    locale: optional(Locale).describe(
      'The language of the messages: en, de, or one of the texts of the issuer. Default: en.',
    ),
  })
  .meta({
    id: 'CredentialOfferDelivery',
    examples: [{ to: 'mailto:alice@example.org', code: 'sms:+4915112345678' }],
  })
export type Deliver = z.output<typeof Deliver>

const Message = z.object({
  id: z.guid().describe('That of the event, for the status of the delivery.'),
  to: z.string(),
  status: z.enum(['requested', 'sent', 'failed']),
  reason: z.string().optional().describe('Why it failed, in the words of the tenant.'),
  at: z.iso.datetime().describe('When it came to this status.'),
})
export type Message = z.output<typeof Message>

/** The messages of an offer, as the record stores and shows them: the last of each kind. */
export const OfferDelivery = z
  .object({ locale: z.string(), link: Message, code: Message.optional() })
  .meta({ id: 'OfferDelivery' })
export type OfferDelivery = z.output<typeof OfferDelivery>

export const DeliveryReport = z
  .object({
    status: z.enum(['sent', 'failed']),
    reason: optional(z.string().min(1).max(300)).describe('Why it failed.'),
  })
  .meta({ id: 'DeliveryReport', examples: [{ status: 'sent' }] })
export type DeliveryReport = z.output<typeof DeliveryReport>
