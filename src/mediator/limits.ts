/**
 * Limits of the mediator: storage, and requests per address. Senders can create any number of DIDs, so
 * addresses are counted.
 */
import type { Config } from '../base/config.ts'
import { createRateLimiter } from '../base/rate-limiter.ts'
import { RateLimited } from './handler.ts'

export type Limits = {
  accounts: number
  /** DIDs per account. */
  recipients: number
  /** Queued messages per DID. */
  queue: number
  /** Queued bytes per account. */
  queueBytes: number
  /** Seconds until a queued message is deleted. */
  lifetime: number
  /** Seconds until an unused account is deleted. */
  accountLifetime: number
  /** Enrolments per address and hour. */
  enrolmentsPerHour: number
  /** Enrolments per address and day. */
  enrolmentsPerDay: number
  /** Messages per address and minute. */
  messagesPerMinute: number
}

/** The limits of the configuration. */
export function limitsOf(config: Config): Limits {
  return {
    accounts: config.MEDIATOR_ACCOUNT_LIMIT,
    recipients: config.MEDIATOR_RECIPIENT_LIMIT,
    queue: config.MEDIATOR_QUEUE_LIMIT,
    queueBytes: config.MEDIATOR_QUEUE_BYTES,
    lifetime: config.MEDIATOR_MESSAGE_LIFETIME,
    accountLifetime: config.MEDIATOR_ACCOUNT_LIFETIME,
    enrolmentsPerHour: config.MEDIATOR_ENROLMENTS_PER_HOUR,
    enrolmentsPerDay: config.MEDIATOR_ENROLMENTS_PER_DAY,
    messagesPerMinute: config.MEDIATOR_MESSAGES_PER_MINUTE,
  }
}

export type RateLimits = {
  /** Counts a message from an address. @throws {RateLimited} */
  countMessage: (address: string) => Promise<void>
  /** Counts an enrolment from an address. @throws {RateLimited} */
  countEnrolment: (address: string) => Promise<void>
}

export function createRateLimits({
  messagesPerMinute,
  enrolmentsPerHour,
  enrolmentsPerDay,
}: Pick<Limits, 'messagesPerMinute' | 'enrolmentsPerHour' | 'enrolmentsPerDay'>): RateLimits {
  const limit = (what: string, points: number, seconds: number) => {
    const pace = createRateLimiter(points, seconds)
    return async (address: string) => {
      const waitSeconds = await pace(address)
      if (waitSeconds !== undefined) throw new RateLimited(what, waitSeconds)
    }
  }
  const hourly = limit('enrolments', enrolmentsPerHour, 3_600)
  const daily = limit('enrolments', enrolmentsPerDay, 86_400)
  return {
    countMessage: limit('messages', messagesPerMinute, 60),
    // An enrolment that the hourly limit refuses does not count for the day.
    countEnrolment: async (address) => {
      await hourly(address)
      await daily(address)
    },
  }
}
