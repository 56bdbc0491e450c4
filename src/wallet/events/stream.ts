/**
 * Streams the events of one wallet or of all wallets after a cursor: first those in the log, then each when
 * it is committed.
 */
import type { Notifier, Subscription } from '../../foundation/notifier.ts'
import { Problem } from '../../foundation/problem.ts'
import type { Db } from '../../foundation/storage/database.ts'
import { unlessElsewhere } from '../../foundation/storage/transferred.ts'
import { eventsAfter, lastSequenceBefore, type Event, type EventFilter } from './event.ts'

/** Streams of one wallet at a time, and of all wallets together. */
const streamLimit = 50

/** Events that are read at a time. */
const batchSize = 20

type Wallets = { use<T>(id: string, work: (wallet: { readonly db: Db }) => Promise<T>): Promise<T> }

export type StreamOptions = {
  /** Cursors: the sequence number of the last event that the reader has, by wallet id. */
  after: Map<string, number>
  /**
   * Wallets that are not in `after` begin with the events that are newer than this id (`newId` of this
   * process).
   */
  since: string
  filter: EventFilter
  /** Yields `undefined` after this time without an event. */
  heartbeatMs: number
  /** Called before each read. The stream ends if it resolves to false. */
  isAllowed: () => Promise<boolean>
}

/** Subscribes to the events of a wallet, or of all wallets. @throws {Problem} `TooManyRequests` */
export function subscribeToEvents(notifier: Notifier, walletId?: string): Subscription {
  if (notifier.count('events', walletId) < streamLimit) return notifier.subscribe('events', walletId)
  const whose = walletId === undefined ? 'of all wallets' : `of the wallet ${walletId}`
  throw new Problem(
    'TooManyRequests',
    `${streamLimit} streams ${whose} are open, the most there may be. Close one first.`,
  )
}

/**
 * Yields every event once, in the order of its wallet's log, and reads when the consumer asks for the next
 * one. Ends with the subscription, which must be made before `after` is read, so that no event is lost in
 * between.
 */
export async function* streamEvents(
  wallets: Wallets,
  subscription: Subscription,
  options: StreamOptions,
): AsyncGenerator<Event | undefined, void> {
  const { after, heartbeatMs, isAllowed } = options
  let changed: string[] | undefined = [...after.keys()]
  while (changed && (await isAllowed())) {
    if (changed.length === 0) yield undefined
    for (const walletId of changed) yield* readNew(wallets, walletId, options)
    changed = await subscription.next(heartbeatMs)
  }
}

async function* readNew(
  wallets: Wallets,
  walletId: string,
  { after, since, filter }: StreamOptions,
): AsyncGenerator<Event, void> {
  for (;;) {
    const found = await unlessElsewhere(
      wallets.use(walletId, async ({ db }) => {
        const cursor = after.get(walletId) ?? (await lastSequenceBefore(db, since))
        after.set(walletId, cursor)
        return eventsAfter(db, walletId, cursor, batchSize, filter)
      }),
    )
    if (!found) return
    for (const { sequence, event } of found) {
      after.set(walletId, sequence)
      yield event
    }
    if (found.length < batchSize) return
  }
}
