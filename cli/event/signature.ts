/** Verifies what the daemon sends, as any receiver would (Standard Webhooks 1.0). */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** How far, in seconds, the time of an attempt may be from ours: what is older may be somebody's repetition. */
const toleranceSeconds = 300

/** Why a body is not what the holder of `secret` (`whsec_…`) has sent at about `now` (milliseconds); nothing when it is. */
export function findForgery(
  secret: string,
  headers: IncomingHttpHeaders,
  body: string,
  now: number,
): string | undefined {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
    return 'it is not signed'
  if (!(Math.abs(now / 1_000 - Number(timestamp)) <= toleranceSeconds)) return 'its time is not ours'
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = Buffer.from(
    `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  )
  const isRight = signatures.split(' ').some((given) => {
    const bytes = Buffer.from(given)
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  })
  return isRight ? undefined : 'its signature is wrong'
}
