/** The ids of received messages, so that a repetition changes nothing. */
import { sql } from 'kysely'
import { timeAgo } from '../../foundation/clock.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { rememberRows } from '../../foundation/storage/memory.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { noteLogRow, prunedAtOnce } from '../../foundation/storage/tx-context.ts'
import type { Wallet } from '../../wallet/wallet.ts'

/**
 * How long message ids are kept, in seconds: 30 days, longer than senders retry. A message that arrives later
 * finds its record in a later state.
 */
export const rememberedSeconds = 30 * 86_400

/** Ids of messages that were received a short time ago. */
const recent = rememberRows('ids of messages', async (db: Db, id) => (await findMessage(db, { id })).rows[0])

/** Whether a message is known to be stored. If not, `once` and `isStored` find out. */
export function isRecent(db: Db, id: string): boolean {
  return recent.recall(db, id) !== undefined
}

export async function isStored(db: Db, id: string): Promise<boolean> {
  return (await findMessage(db, { id })).rows.length > 0
}

const findMessage = prepared((db: Db, { id }: { id: string }) =>
  db.selectFrom('inbox').select('id').where('id', '=', id),
)

const insertMessage = prepared((db: Db, { id, received_at }: { id: string; received_at: string }) =>
  db
    .insertInto('inbox')
    .values({ rowid: sql<number>`(select coalesce(max(rowid), 0) + 1 from inbox)`, id, received_at })
    .onConflict((conflict) => conflict.doNothing())
    .returning('rowid'),
)

/** Writes, unless the message id is stored already. Returns whether it wrote. */
export function once(wallet: Wallet, inboxId: string, write: (tx: Tx) => Promise<unknown>): Promise<boolean> {
  return wallet.transaction(async (tx) => {
    const { rows } = await insertMessage(tx, { id: inboxId, received_at: new Date().toISOString() })
    const [inserted] = rows
    if (!inserted) return false
    recent.note(tx, inboxId, { id: inboxId })
    noteLogRow(tx, inserted.rowid, pruneInbox)
    await write(tx)
    return true
  })
}

const deleteMessages = prepared((db: Db, { before }: { before: string }) =>
  db
    .deleteFrom('inbox')
    .where('rowid', '<', sql<number>`(select min(rowid) from inbox) + ${sql.lit(prunedAtOnce)}`)
    .where('received_at', '<', before),
)

/**
 * Deletes some of the oldest ids that are older than 30 days. Returns how many. Row ids are in the order of
 * arrival.
 */
export async function pruneInbox(tx: Tx): Promise<number> {
  return Number((await deleteMessages(tx, { before: timeAgo(rememberedSeconds) })).numAffectedRows)
}

/** When the oldest message of which the id is kept was received. */
export async function findOldestReceived(db: Db): Promise<string | undefined> {
  const oldest = db.selectFrom('inbox').select('received_at').orderBy('rowid').limit(1)
  return (await oldest.executeTakeFirst())?.received_at
}
