/** Rate limits of the mediator per address, because senders can create any number of DIDs. */
import type { Config } from '../../foundation/config/config.ts'
import { createRateLimiter } from '../../foundation/rate-limiter.ts'
import { RateLimited } from './handler.ts'

export type RateLimits = {
  /** Counts a message from an address. @throws {RateLimited} */
  countMessage: (address: string) => Promise<void>
  /** Counts an enrolment from an address. @throws {RateLimited} */
  countEnrolment: (address: string) => Promise<void>
}

export function createRateLimits(config: Config): RateLimits {
  const limit = (what: string, points: number, seconds: number) => {
    const pace = createRateLimiter(points, seconds)
    return async (address: string) => {
      const waitSeconds = await pace(address)
      if (waitSeconds !== undefined) throw new RateLimited(what, waitSeconds)
    }
  }
  const hourly = limit('enrolments', config.MEDIATOR_ENROLMENTS_PER_HOUR, 3_600)
  const daily = limit('enrolments', config.MEDIATOR_ENROLMENTS_PER_DAY, 86_400)
  return {
    countMessage: limit('messages', config.MEDIATOR_MESSAGES_PER_MINUTE, 60),
    // An enrolment that the hourly limit refuses does not count for the day.
    countEnrolment: async (address) => {
      await hourly(address)
      await daily(address)
    },
  }
}
