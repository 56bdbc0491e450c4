/**
 * How much one address may ask for in a time.
 *
 * Counts are in memory and forgotten when their time is over. There are only so many of them: addresses that fall on the same one
 * share it, and which ones those are, nobody outside can know.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

const slots = 65_536

/** Counts `points` of an address; gives the whole seconds to wait when they are too many, and nothing when they are not. */
export type Pace = (address: string, points?: number) => Promise<number | undefined>

/** Lets an address have `points` in `seconds`. With `hasOwn`, each has a count of its own: where not anybody can make up names. */
export function createPace(points: number, seconds: number, { hasOwn = false } = {}): Pace {
  const salt = randomBytes(32)
  const slotOf = (address: string) =>
    hasOwn ? address : createHmac('sha256', salt).update(address).digest().readUInt32BE() % slots
  const limiter = new RateLimiterMemory({ points, duration: seconds })
  return async (address, count = 1) => {
    try {
      await limiter.consume(slotOf(address), count)
      return undefined
    } catch (error) {
      if (error instanceof RateLimiterRes) return Math.max(1, Math.ceil(error.msBeforeNext / 1_000))
      throw error
    }
  }
}
