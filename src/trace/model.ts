/** The trace of a thread (ours): what happened in it, step by step, and what it waits for. */
import { z } from 'zod'
import { outcomes as deliveryOutcomes } from '../events/delivery-log.ts'
import { EventType } from '../events/event.ts'
import { eventSubjects } from '../events/subjects.ts'

const Topic = z.enum(Object.values(eventSubjects).map(({ topic }) => topic))

const at = z.iso.datetime()

const MessageStep = z.object({
  kind: z.literal('message'),
  at: at.describe('When it arrived, or when the last attempt at sending it began.'),
  direction: z.enum(['sent', 'received']),
  outcome: z.enum(['taken', 'refused', 'given up']),
  id: z.string(),
  type: z.string(),
  from: z.string().describe('The DID of who wrote it, or the first 80 characters of that.'),
  to: z.string().describe('The DID that it was written to, or the first 80 characters of that.'),
  attempts: z
    .number()
    .optional()
    .describe(
      'Attempts at sending it, also those that were due while the other side’s server was left alone; absent when it was received.',
    ),
  durationMs: z.number().optional().describe('How long the other side took to take it.'),
  failure: z
    .string()
    .optional()
    .describe('Why it was refused or given up; if it was taken, why the attempt before failed.'),
})

const StateStep = z.object({
  kind: z.literal('state'),
  at,
  topic: Topic,
  recordId: z.string().optional().describe('The record, or the DID; absent for a test event.'),
  from: z.string().optional().describe('Absent for the first state that is known.'),
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
  attempt: z.number().describe('Counts the attempts to tell this webhook of this event.'),
  cause: z.enum(['automatic', 'replay']),
  outcome: z.enum(deliveryOutcomes),
  durationMs: z.number(),
  status: z.number().optional().describe('What the receiver answered; absent when it did not.'),
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
        '`message`: one to be sent; `work`: something the agent does by itself; `answer`: the other side’s; `decision`: one of this side’s; `end`: nothing more is tried, and the flow ends by itself; `webhook`: one to be told.',
      ),
    since: at.describe('For a webhook, since the first of the events.'),
    topic: Topic.optional(),
    recordId: z.string().optional(),
    state: z.string().optional(),
    name: z
      .string()
      .optional()
      .describe('The type of the message, the name of the work, or the id of the webhook.'),
    events: z
      .number()
      .optional()
      .describe('How many events of the thread the webhook is still to be told of.'),
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
    failure: z.string().optional().describe('Why the last thing that failed did.'),
  })
  .meta({ id: 'TraceRecord' })
export type TracedRecord = z.infer<typeof TracedRecord>

export const Trace = z
  .object({
    thid: z.string().describe('The thread, or the DID.'),
    startedAt: at.optional().describe('The time of the first step that is still known.'),
    records: z.array(TracedRecord),
    steps: z.array(Step).describe('In the order in which they happened.'),
    pending: z.array(Pending).describe('What the thread waits for; empty when it is over.'),
    isCut: z
      .boolean()
      .describe(
        'Whether there are more steps than these: at most 1,000 messages, and the events and deliveries of 1,000.',
      ),
  })
  .meta({ id: 'Trace' })
export type Trace = z.infer<typeof Trace>
