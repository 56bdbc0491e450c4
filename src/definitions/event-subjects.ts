/** The subjects of events. Pure data: the command line imports it. */
import { definitions } from './protocols.ts'

/** The topic of an event, and the members of its data with the subject's id and state. */
export type Subject = { topic: string; id: string; state: string }

const others = {
  DIDStatusUpdated: { topic: 'did', id: 'did', state: 'status' },
  // Only if ENTERPRISE_EVENTS is on.
  DidRequestUpdated: { topic: 'onboard', id: 'id', state: 'state' },
  AuthenticationChallengeUpdated: { topic: 'auth', id: 'id', state: 'state' },
  // Only webhooks with `deliver` get these.
  OfferDeliveryRequested: { topic: 'delivery', id: 'recordId', state: 'status' },
  TransactionCodeDeliveryRequested: { topic: 'delivery', id: 'recordId', state: 'status' },
} as const satisfies Record<string, Subject>

export type EventName = (typeof definitions)[number]['event'] | keyof typeof others
export type Topic = (typeof definitions)[number]['topic'] | (typeof others)[keyof typeof others]['topic']

export const eventSubjects = {
  ...Object.fromEntries(
    definitions.map(({ event, topic, resource: { id, state } }) => [event, { topic, id, state }]),
  ),
  ...others,
} as Readonly<Record<EventName, Subject & { topic: Topic }>>

/** Events that ask the tenant to send a message. Their secrets are in the deliveries to webhooks alone. */
export const deliveryEvents = [
  'OfferDeliveryRequested',
  'TransactionCodeDeliveryRequested',
] as const satisfies readonly EventName[]
export type DeliveryEvent = (typeof deliveryEvents)[number]

export function isDeliveryEvent(type: string): type is DeliveryEvent {
  return (deliveryEvents as readonly string[]).includes(type)
}
