/** Rate limits by client, in memory. A count ends with its time window. */
import { createHmac, randomBytes } from 'node:crypto'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

/** Bounds the memory for the counts of clients that invent names. */
const buckets = 65_536

/** Counts `points` of a client. Returns the whole seconds to wait if they exceed the limit. */
export type RateLimiter = (client: string, points?: number) => Promise<number | undefined>

/**
 * Limits each client to `points` per `seconds`.
 *
 * Clients share counts by a keyed hash of their name that outsiders cannot predict. With `isExact`, each
 * client has a count of its own: for names that cannot be invented.
 */
export function createRateLimiter(points: number, seconds: number, { isExact = false } = {}): RateLimiter {
  const hashKey = randomBytes(32)
  const bucketOf = (client: string) =>
    createHmac('sha256', hashKey).update(client).digest().readUInt32BE() % buckets
  const limiter = new RateLimiterMemory({ points, duration: seconds })
  return async (client, count = 1) => {
    try {
      await limiter.consume(isExact ? client : bucketOf(client), count)
      return undefined
    } catch (error) {
      if (error instanceof RateLimiterRes) return Math.max(1, Math.ceil(error.msBeforeNext / 1_000))
      throw error
    }
  }
}
