/** Merges the logs of events, messages and deliveries into the steps of a thread. */
import * as z from 'zod'
import type { EventDelivery } from '../../wallet/events/delivery-log.ts'
import type { LoggedEvent } from '../../wallet/events/event.ts'
import { eventSubjects } from '../../definitions/event-subjects.ts'
import type { LoggedMessage } from '../../wallet/outbox/message-log.ts'
import type { Step } from './model.ts'

const Text = z.string().optional().catch(undefined)

/** The log entries of a thread, each list in its order. */
export type Logged = {
  events: readonly LoggedEvent[]
  messages: readonly LoggedMessage[]
  deliveries: readonly EventDelivery[]
}

/**
 * Orders the steps. Events and received messages have sequence numbers, which do not depend on a clock. A
 * sent message or a delivery comes after the event that was written with its job, and otherwise by its time.
 */
export function toSteps({ events, messages, deliveries }: Logged): Step[] {
  const received = messages.filter(({ direction }) => direction === 'received')
  const sent = messages.filter(({ direction }) => direction === 'sent')
  const spine = [
    ...toStateSteps(events).map((step, index) => ({ place: events[index]!.sequence, step })),
    // A received message comes before the event that it causes.
    ...received.map((message) => ({ place: message.event_sequence + 0.5, step: toMessageStep(message) })),
  ].toSorted((a, b) => a.place - b.place)
  const loose = [
    ...sent.map((message) => ({ place: message.event_sequence, step: toMessageStep(message) })),
    ...toDeliverySteps(deliveries),
  ].toSorted((a, b) => a.step.at.localeCompare(b.step.at))

  const after = loose.map(({ place, step }) => {
    let index = spine.findLastIndex((fixed) => fixed.place <= place)
    while (index + 1 < spine.length && spine[index + 1]!.step.at < step.at) index++
    return { index, step }
  })
  const at = (index: number) => after.filter((each) => each.index === index).map(({ step }) => step)
  return [...at(-1), ...spine.flatMap(({ step }, index) => [step, ...at(index)])]
}

function toStateSteps(events: readonly LoggedEvent[]): Step[] {
  const last = new Map<string, string>()
  return events.map(({ event: { id: eventId, type, ts, data } }) => {
    const { topic, id, state } = eventSubjects[type]
    const [recordId, to] = [Text.parse(data[id]), Text.parse(data[state])]
    const from = recordId === undefined ? undefined : last.get(recordId)
    if (recordId !== undefined && to !== undefined) last.set(recordId, to)
    return {
      kind: 'state' as const,
      at: ts,
      topic,
      ...(recordId !== undefined && { recordId }),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      eventId,
      eventType: type,
    }
  })
}

function toMessageStep({ at, direction, outcome, id, type, attempts, failure, ...row }: LoggedMessage): Step {
  return {
    kind: 'message',
    at,
    direction,
    outcome,
    id,
    type,
    from: row.from_did,
    to: row.to_did,
    ...(attempts !== null && { attempts }),
    ...(row.duration_ms !== null && { durationMs: row.duration_ms }),
    ...(failure !== null && { failure }),
  }
}

function toDeliverySteps(deliveries: readonly EventDelivery[]): { place: number; step: Step }[] {
  const counts = new Map<string, number>()
  return deliveries.map(({ webhookId, eventSequence, attemptedAt, type, kind, ...rest }) => {
    const delivery = `${webhookId} ${eventSequence}`
    const attempt = (counts.get(delivery) ?? 0) + 1
    counts.set(delivery, attempt)
    const cause = kind === 'replay' ? 'replay' : 'automatic'
    return {
      place: eventSequence,
      step: { kind: 'delivery', at: attemptedAt, webhookId, eventType: type, attempt, cause, ...rest },
    }
  })
}
