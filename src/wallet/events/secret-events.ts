/**
 * Events with secrets. The log has `***` in their place. A webhook with `deliver` gets the whole data; a
 * replay sends what the log has.
 */
import { isDeliveryEvent } from '../../definitions/event-subjects.ts'
import type { Db } from '../../foundation/storage/database.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import type { Delivery } from './deliveries.ts'
import { type EventText, toEventText } from './event.ts'

/** A secret in the log. */
export const hidden = '***'

/** The data of an event is sealed for this event alone. */
export const secretContext = (eventId: string) => `event:${eventId}`

type Opener = { readonly id: string; readonly db: Db; unseal(context: string, sealed: string): string }

const sealedById = prepared((db: Db, { id }: { id: string }) =>
  db.selectFrom('offer_delivery').select('sealed').where('id', '=', id),
)

/** The events of a request as its receiver gets them. */
export async function toReceived(wallet: Opener, { events, kind }: Delivery): Promise<EventText[]> {
  const received: EventText[] = []
  for (const { event } of events) {
    const isSecret = kind === 'automatic' && isDeliveryEvent(event.type)
    const sealed = isSecret ? (await sealedById(wallet.db, { id: event.id })).rows[0]?.sealed : undefined
    if (sealed === undefined || sealed === null) received.push(event)
    else {
      const data = wallet.unseal(secretContext(event.id), sealed)
      received.push(toEventText({ ...event, data }, wallet.id))
    }
  }
  return received
}
