/**
 * Deletes old rows of the logs of a wallet: events, messages and the ids of received messages. Writes do this
 * too, little by little; a wallet that is not used any more has no writes.
 */
import { timeAgo } from '../foundation/clock.ts'
import { findNewestEvent, findOldestEvent, pruneEvents } from '../wallet/events/event.ts'
import { type EventName, eventSubjects, type Subject } from '../definitions/event-subjects.ts'
import { findOldestLogged, pruneMessageLog } from '../wallet/outbox/message-log.ts'
import type { Db, Tx } from '../foundation/storage/database.ts'
import type { Prune } from '../foundation/storage/tx-context.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { findOldestReceived, pruneInbox, rememberedSeconds } from './engine/inbox.ts'

/** How often one transaction prunes. */
const prunesAtOnce = 25

/** A log: the time of its oldest row that may be deleted, and how old rows become. */
type Log = { findOldest: (db: Db) => Promise<string | undefined>; prune: Prune; seconds: number }

/** Deletes what is older than `seconds`. */
export async function removeOldLogs(wallet: Wallet, seconds: number): Promise<void> {
  const logs: Log[] = [
    { findOldest: findOldestEvent, prune: pruneEvents, seconds },
    { findOldest: findOldestLogged, prune: pruneMessageLog, seconds },
    { findOldest: findOldestReceived, prune: pruneInbox, seconds: rememberedSeconds },
  ]
  for (const log of logs) {
    const isOld = async () => ((await log.findOldest(wallet.db)) ?? '~') < timeAgo(log.seconds)
    while ((await isOld()) && (await wallet.transaction((tx) => prune(tx, log))) > 0);
  }
  await emptyNewestEvent(wallet, timeAgo(seconds))
}

/** Returns how many rows were deleted. */
async function prune(tx: Tx, { prune: pruneOnce, seconds }: Log): Promise<number> {
  let deleted = 0
  for (let n = 0; n < prunesAtOnce; n++) {
    const some = await pruneOnce(tx, seconds)
    if (some === 0) break
    deleted += some
  }
  return deleted
}

/**
 * The newest event stays, because the next one gets the number after it. Of its data only the ids and the
 * state stay.
 */
async function emptyNewestEvent(wallet: Wallet, before: string): Promise<void> {
  const row = await findNewestEvent(wallet.db, before)
  if (!row) return
  const subject: Subject | undefined = eventSubjects[row.type as EventName]
  const kept = new Set([subject?.id, subject?.state, 'thid', 'role'])
  const data = JSON.parse(row.data) as Record<string, unknown>
  const emptied = JSON.stringify(Object.fromEntries(Object.entries(data).filter(([name]) => kept.has(name))))
  if (emptied === row.data) return
  await wallet.transaction((tx) =>
    tx.updateTable('event').set({ data: emptied }).where('sequence', '=', row.sequence).execute(),
  )
}
