/**
 * The queues of messages to be picked up. A message stays until the account acknowledges it or its lifetime
 * is over.
 */
import { createHash } from 'node:crypto'
import type { Config } from '../../foundation/config/config.ts'
import type { MediatorDb, MediatorTx } from '../../foundation/storage/database.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { stringsOf } from '../../foundation/storage/sql.ts'
import { Refusal } from './handler.ts'
import { countMessage, sizeOf } from './sizes.ts'

/** A packed message and its recipient. `id` is the SHA-256 of the envelope in hexadecimal. */
export type QueuedMessage = { id: string; recipient: string; account: string; envelope: string }

/**
 * Limit on the envelopes of one delivery in bytes, because peers limit the size of messages. The first
 * envelope is always delivered.
 */
const maxDeliveryBytes = 393_216

export function queueIdOf(envelope: string): string {
  return createHash('sha256').update(envelope).digest('hex')
}

const findQueued = prepared((db: MediatorDb, { account, id, recipient }: Omit<QueuedMessage, 'envelope'>) =>
  db
    .selectFrom('message')
    .select('sequence')
    .where('account', '=', account)
    .where('id', '=', id)
    .where('recipient', '=', recipient),
)

const insert = prepared((db: MediatorDb, row: QueuedMessage & { bytes: number; received_at: string }) => {
  const { id, recipient, account, envelope, bytes, received_at } = row
  return db
    .insertInto('message')
    .values({ id, recipient, account, envelope, bytes, received_at })
    .onConflict((conflict) => conflict.doNothing())
    .returning('sequence')
})

/**
 * Queues a message. Does nothing if it is queued already.
 *
 * @throws {Refusal} `e.p.me.res.storage` when the queue is full.
 */
export async function enqueue(
  tx: MediatorTx,
  config: Config,
  message: QueuedMessage,
  now: string,
): Promise<void> {
  const { recipient, account, envelope } = message
  const bytes = Buffer.byteLength(envelope)
  const [forDid, forAccount] = [await sizeOf(tx, account, recipient), await sizeOf(tx, account)]
  if (forDid.count >= config.MEDIATOR_QUEUE_LIMIT || forAccount.bytes + bytes > config.MEDIATOR_QUEUE_BYTES) {
    if ((await findQueued(tx, message)).rows.length > 0) return
    throw new Refusal(
      'e.p.me.res.storage',
      'The queue of the recipient is full. Try again when messages have been picked up.',
    )
  }
  const { rows } = await insert(tx, { ...message, bytes, received_at: now })
  if (rows.length > 0) countMessage(tx, { account, recipient, bytes }, 1)
}

/** The oldest queued messages: at most `limit`, and no more than fit into one delivery. */
export async function peek(
  tx: MediatorTx,
  account: string,
  limit: number,
  recipient?: string,
): Promise<Pick<QueuedMessage, 'id' | 'envelope'>[]> {
  const candidates = await tx
    .selectFrom('message')
    .select(['sequence', 'bytes'])
    .where('account', '=', account)
    .$if(recipient !== undefined, (query) => query.where('recipient', '=', recipient!))
    .orderBy('sequence')
    .limit(limit)
    .execute()
  let left = maxDeliveryBytes
  const chosen = candidates
    .filter(({ bytes }, i) => (left -= bytes) >= 0 || i === 0)
    .map(({ sequence }) => sequence)
  if (chosen.length === 0) return []
  return tx
    .selectFrom('message')
    .select(['id', 'envelope'])
    .where('sequence', 'in', chosen)
    .orderBy('sequence')
    .execute()
}

const deleteReceived = prepared((db: MediatorDb, { account, ids }: { account: string; ids: string }) =>
  db
    .deleteFrom('message')
    .where('account', '=', account)
    .where('id', 'in', stringsOf(db, ids))
    .returning(['account', 'recipient', 'bytes']),
)

/** Deletes messages that the account has received. Unknown ids are ignored. */
export async function acknowledge(tx: MediatorTx, account: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await deleteReceived(tx, { account, ids: JSON.stringify(ids) })
  for (const row of rows) countMessage(tx, row, -1)
}

/** Deletes messages received before an instant. Returns their number. */
export async function removeExpired(tx: MediatorTx, before: string): Promise<number> {
  const removed = await tx
    .deleteFrom('message')
    .where('received_at', '<', before)
    .returning(['account', 'recipient', 'bytes'])
    .execute()
  for (const row of removed) countMessage(tx, row, -1)
  return removed.length
}
