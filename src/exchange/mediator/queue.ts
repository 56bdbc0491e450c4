/**
 * The queues of messages to be picked up. A message stays until the account acknowledges it or its lifetime
 * is over.
 */
import { createHash } from 'node:crypto'
import type { Config } from '../../foundation/config/config.ts'
import type { MediatorTx } from '../../foundation/storage/database.ts'
import { Refusal } from './handler.ts'

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
  const { id, recipient, account, envelope } = message
  const queued = await tx
    .selectFrom('message')
    .select('sequence')
    .where('account', '=', account)
    .where('id', '=', id)
    .where('recipient', '=', recipient)
    .executeTakeFirst()
  if (queued) return
  const bytes = Buffer.byteLength(envelope)
  const [forDid, forAccount] = [await summarise(tx, account, recipient), await summarise(tx, account)]
  if (forDid.count >= config.MEDIATOR_QUEUE_LIMIT || forAccount.bytes + bytes > config.MEDIATOR_QUEUE_BYTES) {
    throw new Refusal(
      'e.p.me.res.storage',
      'The queue of the recipient is full. Try again when messages have been picked up.',
    )
  }
  await tx
    .insertInto('message')
    .values({ id, recipient, account, envelope, bytes, received_at: now })
    .execute()
}

/**
 * The queue of an account, or of one of its recipients. `oldest` and `newest` are ISO 8601, null when it is
 * empty.
 */
export type Summary = { count: number; bytes: number; oldest: string | null; newest: string | null }

export async function summarise(tx: MediatorTx, account: string, recipient?: string): Promise<Summary> {
  const { bytes, ...summary } = await tx
    .selectFrom('message')
    .select(({ fn }) => [
      fn.countAll<number>().as('count'),
      fn.sum<number | null>('bytes').as('bytes'),
      fn.min<string | null>('received_at').as('oldest'),
      fn.max<string | null>('received_at').as('newest'),
    ])
    .where('account', '=', account)
    .$if(recipient !== undefined, (query) => query.where('recipient', '=', recipient!))
    .executeTakeFirstOrThrow()
  return { ...summary, bytes: bytes ?? 0 }
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

/** Deletes messages that the account has received. Unknown ids are ignored. */
export async function acknowledge(tx: MediatorTx, account: string, ids: string[]): Promise<void> {
  if (ids.length > 0)
    await tx.deleteFrom('message').where('account', '=', account).where('id', 'in', ids).execute()
}

/** Deletes messages received before an instant. Returns their number. */
export async function removeExpired(tx: MediatorTx, before: string): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('message')
    .where('received_at', '<', before)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
