/** What waits to be picked up: taken while there is room, given out as often as asked for, removed when acknowledged or too old. */
import { createHash } from 'node:crypto'
import type { MediatorTx } from '../storage/database.ts'
import type { Limits } from './limits.ts'
import { Refusal } from './refusal.ts'

/** A packed message and whom it is for; `id` is the SHA-256 of the envelope, hexadecimal. */
export type Waiting = { id: string; recipient: string; account: string; envelope: string }

/** Envelopes that one delivery may hold, in bytes together, so that it stays below the size that peers read; the first one always goes. */
const deliveryBytes = 393_216

/** The id of an envelope in the queue. */
export function idOf(envelope: string): string {
  return createHash('sha256').update(envelope).digest('hex')
}

/**
 * Puts a message into the queue; one that waits there already is the same one.
 *
 * @throws {Refusal} `e.p.me.res.storage` when the queue is full: nothing that waits makes room.
 */
export async function enqueue(tx: MediatorTx, limits: Limits, waiting: Waiting, now: string): Promise<void> {
  const { id, recipient, account, envelope } = waiting
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
  if (forDid.count >= limits.queue || forAccount.bytes + bytes > limits.queueBytes) {
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

/** How much waits for an account, or for one of its recipients; instants are absent when nothing does. */
export type Summary = { count: number; bytes: number; oldest: string | null; newest: string | null }

/** Counts what waits. */
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

/** The oldest messages that wait, at most `limit` and no more than fit into one delivery. They stay in the queue. */
export async function peek(
  tx: MediatorTx,
  account: string,
  limit: number,
  recipient?: string,
): Promise<Pick<Waiting, 'id' | 'envelope'>[]> {
  const candidates = await tx
    .selectFrom('message')
    .select(['sequence', 'bytes'])
    .where('account', '=', account)
    .$if(recipient !== undefined, (query) => query.where('recipient', '=', recipient!))
    .orderBy('sequence')
    .limit(limit)
    .execute()
  let left = deliveryBytes
  const chosen = candidates
    .filter(({ bytes }, place) => (left -= bytes) >= 0 || place === 0)
    .map(({ sequence }) => sequence)
  if (chosen.length === 0) return []
  return tx
    .selectFrom('message')
    .select(['id', 'envelope'])
    .where('sequence', 'in', chosen)
    .orderBy('sequence')
    .execute()
}

/** Removes messages that the account has received; ids that are not in its queue are passed over. */
export async function acknowledge(tx: MediatorTx, account: string, ids: string[]): Promise<void> {
  if (ids.length > 0)
    await tx.deleteFrom('message').where('account', '=', account).where('id', 'in', ids).execute()
}

/** Throws away what came before an instant. How much it was. */
export async function expire(tx: MediatorTx, before: string): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('message')
    .where('received_at', '<', before)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
