/** What a transaction has written that somebody waits for, so that the commit wakes those and nobody else. */
import type { Tx } from '../storage/database.ts'

/** Whether something is owed that was not before, and whether an event was written, or asked for again. */
export type News = { debts: boolean; events: boolean }

const written = new WeakMap<Tx, News>()

/** Says that a transaction has written a debt, or an event. */
export function noteNews(tx: Tx, what: keyof News): void {
  const news = written.get(tx)
  if (news) news[what] = true
  else written.set(tx, { debts: false, events: false, [what]: true })
}

/** What a transaction that has ended has written; nothing when nobody waits for it. */
export function takeNews(tx: Tx): News | undefined {
  return written.get(tx)
}
