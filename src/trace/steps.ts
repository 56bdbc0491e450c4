/** The steps of a thread in the order in which they happened, from three logs: of events, of messages and of deliveries. */
import { z } from 'zod'
import type { EventDelivery } from '../events/delivery-log.ts'
import type { Placed } from '../events/event.ts'
import { eventSubjects } from '../events/subjects.ts'
import type { LoggedMessage } from '../outbox/message-log.ts'
import type { Step } from './model.ts'

const Text = z.string().optional().catch(undefined)

/** What the log has of a thread; each list in its own order. */
export type Logged = {
  events: readonly Placed[]
  messages: readonly LoggedMessage[]
  deliveries: readonly EventDelivery[]
}

/**
 * Puts the steps in order. Events and what was received have places in their logs, which no clock moves. What was sent, or delivered, comes
 * after the event that it was promised with, as far back as its time says.
 */
export function toSteps({ events, messages, deliveries }: Logged): Step[] {
  const received = messages.filter(({ direction }) => direction === 'received')
  const sent = messages.filter(({ direction }) => direction === 'sent')
  const spine = [
    ...toStateSteps(events).map((step, index) => ({ place: events[index]!.sequence, step })),
    // Between the event before it and the one that it caused.
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

function toStateSteps(events: readonly Placed[]): Step[] {
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

function toMessageStep({
  at,
  direction,
  outcome,
  id,
  type,
  from_did,
  to_did,
  attempts,
  duration_ms,
  failure,
}: LoggedMessage): Step {
  return {
    kind: 'message',
    at,
    direction,
    outcome,
    id,
    type,
    from: from_did,
    to: to_did,
    ...(attempts !== null && { attempts }),
    ...(duration_ms !== null && { durationMs: duration_ms }),
    ...(failure !== null && { failure }),
  }
}

function toDeliverySteps(deliveries: readonly EventDelivery[]): { place: number; step: Step }[] {
  const counts = new Map<string, number>()
  return deliveries.map(({ webhookId, eventSequence, attemptedAt, type, kind, ...rest }) => {
    const lane = `${webhookId} ${eventSequence}`
    const attempt = (counts.get(lane) ?? 0) + 1
    counts.set(lane, attempt)
    const cause = kind === 'replay' ? 'replay' : 'automatic'
    return {
      place: eventSequence,
      step: { kind: 'delivery', at: attemptedAt, webhookId, eventType: type, attempt, cause, ...rest },
    }
  })
}
