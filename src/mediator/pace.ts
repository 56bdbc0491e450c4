/**
 * How often one address may ask: messages in a minute, enrolments in an hour.
 *
 * A sender can make as many DIDs as it likes, so they are not what is counted.
 */
import { createPace, type Pace as Count } from '../base/pace.ts'
import type { Limits } from './limits.ts'
import { TooOften } from './refusal.ts'

export type Pace = {
  /** Counts a message of an address. @throws {TooOften} */
  message: (address: string) => Promise<void>
  /** Counts the enrolment of a DID from an address. @throws {TooOften} */
  enrolment: (address: string) => Promise<void>
}

/** Makes the counters, all at zero. */
export function createMediatorPace({
  messagesPerMinute,
  enrolmentsPerHour,
}: Pick<Limits, 'messagesPerMinute' | 'enrolmentsPerHour'>): Pace {
  const [messages, enrolments] = [createPace(messagesPerMinute, 60), createPace(enrolmentsPerHour, 3_600)]
  return {
    message: (address) => within(messages, address, 'messages'),
    enrolment: (address) => within(enrolments, address, 'enrolments'),
  }
}

async function within(count: Count, address: string, what: string): Promise<void> {
  const waitSeconds = await count(address)
  if (waitSeconds !== undefined) throw new TooOften(what, waitSeconds)
}
