/** What the worker knows of one wallet between two polls. */
import type { Changes } from '../storage/tx-context.ts'

/** Jobs of one wallet that run at a time: a peer that does not answer must not delay other tenants. */
const jobLimit = 48

/** Queues of one wallet that may wait for a free connection to their destination. */
const crowdedLimit = 2_000

export type WalletState = {
  /** What the next poll has to read; undefined when no poll is needed. */
  wanted: Changes | undefined
  isPolling: boolean
  /** Queues and webhooks that are being processed. */
  queues: Set<string>
  webhooks: Set<string>
  /** Queues that wait for a free connection to their destination; they take none of the wallet's slots. */
  crowded: Set<string>
  /** The last event that a webhook has accepted, by its sequence number, while that is not stored yet. */
  accepted: Map<string, { sequence: number; stored: Promise<unknown> }>
  /** Polls that have failed in a row. */
  failures: number
  /** When the next job, delivery or expiry is due, and when expired flows were looked for, by `steadyNow` in milliseconds. */
  jobsAt: number
  deliveriesAt: number
  expiryAt: number
  expiryCheckedAt: number
  timer: NodeJS.Timeout | undefined
}

export function newWalletState(): WalletState {
  return {
    wanted: undefined,
    isPolling: false,
    queues: new Set(),
    webhooks: new Set(),
    crowded: new Set(),
    accepted: new Map(),
    failures: 0,
    jobsAt: Infinity,
    deliveriesAt: Infinity,
    expiryAt: Infinity,
    expiryCheckedAt: -Infinity,
    timer: undefined,
  }
}

/** Whether jobs or deliveries of the wallet are running; their end leads to another poll. */
export function isRunning({ queues, webhooks, accepted, wanted, isPolling }: WalletState): boolean {
  return isPolling || queues.size + webhooks.size + accepted.size > 0 || wanted !== undefined
}

/** How many more jobs of the wallet may start now. */
export function freeSlots({ queues, crowded }: WalletState): number {
  return Math.max(0, Math.min(jobLimit - (queues.size - crowded.size), crowdedLimit - crowded.size))
}

/** When the wallet has to be polled though nothing changes; Infinity for never. A time that has passed waits for a slot, and so for the end of a job. */
export function nextPollAt({ jobsAt, deliveriesAt, expiryAt }: WalletState, now: number): number {
  return Math.min(...[jobsAt, deliveriesAt, expiryAt].filter((time) => time > now))
}
