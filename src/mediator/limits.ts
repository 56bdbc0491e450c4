/** How much the mediator takes on. */
import type { Config } from '../base/config.ts'

export type Limits = {
  /** Accounts. */
  accounts: number
  /** DIDs of an account. */
  recipients: number
  /** Messages that wait for a DID. */
  queue: number
  /** Bytes that wait for an account. */
  queueBytes: number
  /** Seconds that a message waits. */
  lifetime: number
  /** Seconds that an account is kept which is not heard of. */
  accountLifetime: number
  /** DIDs that may be enrolled from one address in an hour. */
  enrolmentsPerHour: number
  /** The same in a day. */
  enrolmentsPerDay: number
  /** Messages that are taken from one address in a minute. */
  messagesPerMinute: number
}

/** The limits that the operator has set. */
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
