/** The requests of the API and the REST resource of webhooks. Signatures are an extension. */
import * as z from 'zod'
import { isDeliveryEvent } from '../../definitions/event-subjects.ts'
import { EventType, eventTypes } from './event.ts'
import { signatureHeaders } from './signature.ts'

/** Headers that HTTP or the agent sets itself. */
const reserved = new Set<string>([
  ...signatureHeaders,
  'host',
  'content-length',
  'content-type',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
])

export const CustomHeaders = z
  .record(
    z
      .string()
      .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'is not the name of a header')
      .refine((name) => !reserved.has(name.toLowerCase()), 'is a header that the agent writes itself'),
    z
      .string()
      .max(4_000)
      .regex(/^[\t\x20-\x7e]*$/, 'is not the value of a header: visible ASCII only'),
  )
  .meta({ description: 'Header names and values that every request to the webhook carries.' })

/** The most events of a request. */
export const maxBatch = 50

export const CreateWebhook = z
  .object({
    url: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .refine(hasNoUser, 'has a user name or password; send them in customHeaders, which are kept sealed'),
    customHeaders: CustomHeaders.nullish().transform((headers) => headers ?? {}),
    signed: z
      .boolean()
      .nullish()
      .describe('Sign events (Standard Webhooks 1.0); the response contains the secret.'),
    batch: z
      .int()
      .min(1)
      .max(maxBatch)
      .nullish()
      .describe(
        'Post arrays of events that wait, each with at most this many. Default: one event, no array.',
      ),
    types: z
      .array(EventType)
      .min(1)
      .max(eventTypes.length)
      .nullish()
      .describe('Only events of these types. Default: all (extension).'),
    deliver: z
      .boolean()
      .nullish()
      .describe(
        'The receiver sends e-mails and text messages to people: it gets the events `OfferDeliveryRequested` and `TransactionCodeDeliveryRequested` too, with their links and codes. Others never get these (extension).',
      ),
  })
  .refine(({ types, deliver }) => deliver || !types?.some(isDeliveryEvent), {
    path: ['types'],
    error: 'has events of deliveries, which need "deliver": true',
  })
  .meta({ id: 'CreateWebhookNotification' })
export type CreateWebhook = z.output<typeof CreateWebhook>

export const Webhook = z
  .object({
    id: z.uuid(),
    url: z.string(),
    customHeaders: z.record(z.string(), z.string()).describe('Header names; the values are masked.'),
    createdAt: z.iso.datetime(),
    signed: z.literal(true).optional().describe('Present if events are signed.'),
    batch: z.int().optional().describe('The most events of a request. Present if requests have an array.'),
    types: z.array(EventType).optional().describe('The types of the events. Absent: all (extension).'),
    deliver: z.literal(true).optional().describe('Present if it gets the events of deliveries (extension).'),
  })
  .meta({ id: 'WebhookNotification' })
export type Webhook = z.infer<typeof Webhook>

/** The response to a registration, the only one with header values and the secret. */
export const NewWebhook = Webhook.extend({
  secret: z.string().optional().describe('The secret that verifies signatures; it is not shown again.'),
}).meta({
  id: 'NewWebhookNotification',
})
export type NewWebhook = z.infer<typeof NewWebhook>

/** Requests to such URLs are not made, and the credentials would be stored in plain text. */
function hasNoUser(url: string): boolean {
  if (!URL.canParse(url)) return true
  const { username, password } = new URL(url)
  return username === '' && password === ''
}
