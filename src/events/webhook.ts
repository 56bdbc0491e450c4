/** Webhooks as REST shows them (service §2.8, api.md 4.15). What is signed, and how, is ours. */
import { z } from 'zod'
import { signatureHeaders } from './signature.ts'

/** Headers that would change what the request is, instead of what it carries, and those that the agent signs with. */
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
      .describe('Have events signed (Standard Webhooks 1.0); the answer holds the secret.'),
  })
  .meta({ id: 'CreateWebhookNotification' })
export type CreateWebhook = z.output<typeof CreateWebhook>

export const Webhook = z
  .object({
    id: z.uuid(),
    url: z.string(),
    customHeaders: z
      .record(z.string(), z.string())
      .describe('Names of headers; their values are not shown again.'),
    createdAt: z.iso.datetime(),
    signed: z.literal(true).optional().describe('Present when events are signed.'),
  })
  .meta({ id: 'WebhookNotification' })
export type Webhook = z.infer<typeof Webhook>

/** A webhook in the answer to its registration, the only one that shows header values and the secret. */
export const NewWebhook = Webhook.extend({
  secret: z.string().optional().describe('What verifies the signatures; not shown again.'),
}).meta({
  id: 'NewWebhookNotification',
})
export type NewWebhook = z.infer<typeof NewWebhook>

/** Requests go to no such URL, and here it would lie open on disk. */
function hasNoUser(url: string): boolean {
  if (!URL.canParse(url)) return true
  const { username, password } = new URL(url)
  return username === '' && password === ''
}
