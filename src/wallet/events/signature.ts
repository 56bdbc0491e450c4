/**
 * Signatures of requests to webhooks and to claims sources (Standard Webhooks 1.0): HMAC-SHA-256 over the id
 * of the message, the time of the attempt and the body.
 *
 * After a rotation the old secret signs as well for a time, so that the receiver may know either.
 */
import { createHmac, randomBytes } from 'node:crypto'
import * as z from 'zod'
import { isOver } from '../../foundation/clock.ts'

/** The headers of a signed request. Custom headers must not have these names. */
export const signatureHeaders = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const

const prefix = 'whsec_'

/** The specification requires 24 to 64 bytes. */
const secretBytes = 32

/** A webhook's secrets, newest first. A replaced secret signs until `until`. */
export const Secrets = z
  .array(z.object({ secret: z.string().startsWith(prefix), until: z.iso.datetime().optional() }))
  .min(1)
  .max(2)
export type Secrets = z.infer<typeof Secrets>

/** Generates a secret: `whsec_` and 32 random bytes in base64. */
export function newSecret(): string {
  return prefix + randomBytes(secretBytes).toString('base64')
}

/** The response to a new secret. */
export const RenewedSecret = z
  .object({
    secret: z.string().describe('It is returned only once.'),
    previousUntil: z.iso.datetime().optional().describe('Until then, the previous secret signs too.'),
  })
  .meta({ id: 'WebhookSecret' })
export type RenewedSecret = z.infer<typeof RenewedSecret>

/** A new secret beside those that are `known`, as it is stored and as the tenant gets it. */
export function renew(known: Secrets | undefined, until: Date): { secrets: Secrets; renewed: RenewedSecret } {
  const secret = newSecret()
  const secrets = rotate(known, secret, until)
  const previousUntil = secrets[1]?.until
  return { secrets, renewed: { secret, ...(previousUntil !== undefined && { previousUntil }) } }
}

/** Adds a new secret. The current one signs until `until`; an older one is dropped. */
export function rotate(secrets: Secrets | undefined, secret: string, until: Date): Secrets {
  const current = secrets?.[0]
  return current ? [{ secret }, { secret: current.secret, until: until.toISOString() }] : [{ secret }]
}

/**
 * The headers of a request: message id, timestamp, and a signature by each valid secret. `body` is the exact
 * text of the request.
 */
export function sign(
  secrets: Secrets | undefined,
  { id, at, body }: { id: string; at: Date; body: string },
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const valid = (secrets ?? []).filter(({ until }) => until === undefined || !isOver(Date.parse(until)))
  const signatures = valid.map(({ secret }) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
    key.fill(0)
    return `v1,${signature}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...(signatures.length > 0 && { 'webhook-signature': signatures.join(' ') }),
  }
}
