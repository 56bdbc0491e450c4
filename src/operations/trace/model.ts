/** The trace of a thread (extension): its steps, and what it waits for. */
import * as z from 'zod'
import { outcomes as deliveryOutcomes } from '../../wallet/events/delivery-log.ts'
import { EventType } from '../../wallet/events/event.ts'
import { eventSubjects } from '../../definitions/event-subjects.ts'

const Topic = z.enum(Object.values(eventSubjects).map(({ topic }) => topic))

const at = z.iso.datetime()

const MessageStep = z.object({
  kind: z.literal('message'),
  at: at.describe('When it was received, or when the last attempt to send it began.'),
  direction: z.enum(['sent', 'received']),
  outcome: z.enum(['taken', 'refused', 'given up']),
  id: z.string(),
  type: z
    .string()
    .describe(
      'The type URI; `authorization-request`, `log-in`, `presentation`, `token-request` or `credential-request` for a refused request of OpenID4VCI.',
    ),
  from: z.string().describe('The sender’s DID, cut at 80 characters; `wallet` for a request of OpenID4VCI.'),
  to: z.string().describe('The recipient’s DID, cut at 80 characters.'),
  attempts: z
    .number()
    .optional()
    .describe(
      'Attempts to send it, including those skipped while the other side’s server was unreachable; absent for a received message.',
    ),
  durationMs: z.number().optional().describe('How long the other side took to answer.'),
  failure: z
    .string()
    .optional()
    .describe('Why it was refused or abandoned; for an accepted message, why the attempt before failed.'),
})

const StateStep = z.object({
  kind: z.literal('state'),
  at,
  topic: Topic,
  recordId: z.string().optional().describe('The record, or the DID; absent for a test event.'),
  from: z.string().optional().describe('Absent for the first known state.'),
  to: z.string().optional().describe('Absent for a test event.'),
  eventId: z.uuid(),
  eventType: EventType,
})

const DeliveryStep = z.object({
  kind: z.literal('delivery'),
  at,
  webhookId: z.string(),
  eventId: z.string(),
  eventType: z.string(),
  attempt: z.number().describe('The number of the attempt to deliver this event to this webhook.'),
  cause: z.enum(['automatic', 'replay']),
  outcome: z.enum(deliveryOutcomes),
  durationMs: z.number(),
  status: z.number().optional().describe('The HTTP status; absent without an answer.'),
  error: z.string().optional(),
})

export const Step = z
  .discriminatedUnion('kind', [MessageStep, StateStep, DeliveryStep])
  .meta({ id: 'TraceStep' })
export type Step = z.infer<typeof Step>

export const Pending = z
  .object({
    what: z
      .enum(['message', 'work', 'answer', 'decision', 'end', 'webhook'])
      .describe(
        '`message`: a message to send; `work`: a task to run; `answer`: an answer of the other side; `decision`: a decision of a person on this side; `end`: no more attempts, the flow will expire; `webhook`: events to deliver.',
      ),
    since: at.describe('For a webhook, the time of the first event.'),
    topic: Topic.optional(),
    recordId: z.string().optional(),
    state: z.string().optional(),
    name: z
      .string()
      .optional()
      .describe('The type of the message, the name of the task, or the id of the webhook.'),
    events: z.number().optional().describe('The number of the thread’s events to deliver to the webhook.'),
    attempts: z.number().optional().describe('Failed attempts so far.'),
    reason: z.string().optional().describe('Why the last of them failed.'),
    nextAt: at.optional().describe('When the next attempt is due, or when the flow ends.'),
  })
  .meta({ id: 'TracePending' })
export type Pending = z.infer<typeof Pending>

const TracedRecord = z
  .object({
    topic: Topic,
    id: z.string(),
    role: z.string(),
    state: z.string(),
    expiresAt: at.optional().describe('Until when its invitation, offer or request can be answered.'),
    failure: z.string().optional().describe('The last failure.'),
  })
  .meta({ id: 'TraceRecord' })
export type TracedRecord = z.infer<typeof TracedRecord>

export const Trace = z
  .object({
    thid: z.string().describe('The thread, or the DID.'),
    startedAt: at.optional().describe('The time of the first known step.'),
    records: z.array(TracedRecord),
    steps: z.array(Step).describe('In the order of their occurrence.'),
    pending: z.array(Pending).describe('What the thread waits for; empty if it is over.'),
    isCut: z
      .boolean()
      .describe(
        'Whether steps are missing: a trace has at most 1,000 messages, 1,000 events and their deliveries.',
      ),
  })
  .meta({ id: 'Trace' })
export type Trace = z.infer<typeof Trace>
