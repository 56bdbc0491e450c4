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
}

/** The limits that the operator has set. */
export function limitsOf(config: Config): Limits {
  return {
    accounts: config.MEDIATOR_ACCOUNT_LIMIT,
    recipients: config.MEDIATOR_RECIPIENT_LIMIT,
    queue: config.MEDIATOR_QUEUE_LIMIT,
    queueBytes: config.MEDIATOR_QUEUE_BYTES,
    lifetime: config.MEDIATOR_MESSAGE_LIFETIME,
  }
}
