/** What a transaction has written that somebody waits for, so that the commit tells those and nobody else. */
import type { Tx } from '../storage/database.ts'
import type { Promised } from './debt.ts'
import type { Written } from './event.ts'

/**
 * What is new in a wallet: debts that were promised, and events that were written, in their order. `look`: more than that, or what was there has
 * changed, which is found in its file.
 */
export type News = { debts: readonly Promised[] | 'look'; events: readonly Written[] | 'look' }

/** What is told of one kind at most; beyond that, whoever waits reads it. */
const most = 100

const nothing: News = { debts: [], events: [] }
const written = new WeakMap<Tx, News>()

/** Says that a transaction has promised a debt. */
export function noteDebt(tx: Tx, debt: Promised): void {
  const news = written.get(tx) ?? nothing
  written.set(tx, { ...news, debts: withOneMore(news.debts, debt) })
}

/** Says that a transaction has written an event. */
export function noteEvent(tx: Tx, event: Written): void {
  const news = written.get(tx) ?? nothing
  written.set(tx, { ...news, events: withOneMore(news.events, event) })
}

/** Says that a transaction has changed what is owed, or who is told of events, or which. */
export function noteLook(tx: Tx, what: keyof News): void {
  written.set(tx, { ...(written.get(tx) ?? nothing), [what]: 'look' })
}

/** What a transaction has written until now; nothing when nobody waits for it. */
export function takeNews(tx: Tx): News | undefined {
  return written.get(tx)
}

/** Notes what a transaction has written until now, and returns what forgets all that comes after: it was taken back. */
export function markNews(tx: Tx): () => void {
  const before = written.get(tx)
  return () => void (before ? written.set(tx, before) : written.delete(tx))
}

function withOneMore<T>(known: readonly T[] | 'look', one: T): readonly T[] | 'look' {
  return known === 'look' || known.length === most ? 'look' : [...known, one]
}
