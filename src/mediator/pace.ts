/**
 * How often one address may ask: messages in a minute, enrolments in an hour and in a day.
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
export function createMediatorPace(
  limits: Pick<Limits, 'messagesPerMinute' | 'enrolmentsPerHour' | 'enrolmentsPerDay'>,
): Pace {
  const messages = createPace(limits.messagesPerMinute, 60)
  const [hourly, daily] = [
    createPace(limits.enrolmentsPerHour, 3_600),
    createPace(limits.enrolmentsPerDay, 86_400),
  ]
  return {
    message: (address) => within(messages, address, 'messages'),
    enrolment: async (address) => {
      await within(hourly, address, 'enrolments')
      await within(daily, address, 'enrolments')
    },
  }
}

async function within(count: Count, address: string, what: string): Promise<void> {
  const waitSeconds = await count(address)
  if (waitSeconds !== undefined) throw new TooOften(what, waitSeconds)
}
