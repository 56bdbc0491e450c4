/**
 * Signatures of what webhooks are sent (Standard Webhooks 1.0): HMAC-SHA-256 over the event's id, the time of the attempt and the body.
 *
 * A webhook has one secret, and for a time after it was replaced the one before it too: then both sign, and a receiver may know either.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { isOver } from '../base/clock.ts'

/** The headers that this file writes, and nobody else. */
export const signatureHeaders = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const

const prefix = 'whsec_'

/** Secrets of 24 to 64 bytes are what the specification asks for. */
const secretBytes = 32

/** A webhook's secrets, the newest first; `until` is when one that was replaced stops to sign. */
export const Secrets = z
  .array(z.object({ secret: z.string().startsWith(prefix), until: z.iso.datetime().optional() }))
  .min(1)
  .max(2)
export type Secrets = z.infer<typeof Secrets>

/** Makes a secret: `whsec_` and 32 random bytes in base64. */
export function newSecret(): string {
  return prefix + randomBytes(secretBytes).toString('base64')
}

/** Puts a new secret before the one that signs now, which goes on to sign until `until`. The one before that is dropped. */
export function rotate(secrets: Secrets | undefined, secret: string, until: Date): Secrets {
  const current = secrets?.[0]
  return current ? [{ secret }, { secret: current.secret, until: until.toISOString() }] : [{ secret }]
}

/**
 * The headers of an attempt made `at` to deliver `body`, the exact text that is sent, as the message `id`: who it is and when it was sent,
 * and, where there are secrets, a signature by each that is valid still.
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
