/** The messages by which the tenant brings an offer to its person. Pure data: the command line imports it. */
import type { EventName } from './event-subjects.ts'

/** Events that ask the tenant to send a message. Their secrets are in the deliveries to webhooks alone. */
export const deliveryEvents = [
  'OfferDeliveryRequested',
  'TransactionCodeDeliveryRequested',
] as const satisfies readonly EventName[]
export type DeliveryEvent = (typeof deliveryEvents)[number]

export function isDeliveryEvent(type: string): type is DeliveryEvent {
  return (deliveryEvents as readonly string[]).includes(type)
}

/** The languages of the messages (BCP 47), the default first. */
export const locales = ['en', 'de'] as const
export type Locale = (typeof locales)[number]
