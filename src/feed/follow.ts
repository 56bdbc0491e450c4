/** The events of a wallet, or of all, from a place in the log on: first those that are there, then each as it is committed. */
import { eventsAfter, lastSequenceBefore, type Event, type EventFilter } from '../outbox/event.ts'
import type { Wallets } from '../wallet/wallets.ts'
import type { Listener } from './feed.ts'

/** Events read at a time: as many are in memory, whatever waits in the log. */
const readAtOnce = 20

export type Following = {
  /** Where to begin: the place of the last event that is known, by wallet. */
  after: Map<string, number>
  /** Where to begin in wallets that are not in `after`: with what was made later than this id of this process (`newId`). */
  since: string
  filter: EventFilter
  /** How long, in milliseconds, nothing may happen before `undefined` says that all is well. */
  patienceMs: number
  /** Asked before the log is read. The first no is the end. */
  isAllowed: () => Promise<boolean>
}

/**
 * Yields every event once, in the order of its wallet's log, and reads on when the next one is asked for: a slow reader costs
 * nothing. Ends with the listener, which must have been made before `after` was looked up, so that nothing falls in between.
 */
export async function* follow(wallets: Wallets, listener: Listener, following: Following): AsyncGenerator<Event | undefined, void> {
  const { after, patienceMs, isAllowed } = following
  let news: string[] | undefined = [...after.keys()]
  while (news && (await isAllowed())) {
    if (news.length === 0) yield undefined
    for (const walletId of news) yield* readOn(wallets, walletId, following)
    news = await listener.news(patienceMs)
  }
}

async function* readOn(wallets: Wallets, walletId: string, { after, since, filter }: Following): AsyncGenerator<Event, void> {
  for (;;) {
    const found = await wallets.use(walletId, async ({ db }) => {
      const place = after.get(walletId) ?? (await lastSequenceBefore(db, since))
      after.set(walletId, place)
      return eventsAfter(db, walletId, place, readAtOnce, filter)
    })
    for (const { sequence, event } of found) {
      after.set(walletId, sequence)
      yield event
    }
    if (found.length < readAtOnce) return
  }
}
