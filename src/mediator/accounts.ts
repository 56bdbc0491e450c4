/** Who is enrolled, and for which DIDs messages are taken (coordinate mediation 2.0 and 3.0). */
import type { MediatorTx } from '../storage/database.ts'

/** True when the DID has an account. */
export async function isEnrolled(tx: MediatorTx, account: string): Promise<boolean> {
  return (
    (await tx.selectFrom('account').select('did').where('did', '=', account).executeTakeFirst()) !== undefined
  )
}

/**
 * Enrols a DID, which counts as its own first recipient; false when there are too many accounts.
 *
 * Whoever asks has proved to control the DID, so if another account had registered it, that ends here.
 */
export async function enrol(tx: MediatorTx, account: string, limit: number, now: string): Promise<boolean> {
  if (await isEnrolled(tx, account)) return true
  const { count } = await tx
    .selectFrom('account')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count >= limit) return false
  await tx.insertInto('account').values({ did: account, created_at: now, seen_at: now }).execute()
  await claim(tx, account, now)
  return true
}

/**
 * Registers an account's own DID, whichever account had registered it, and gives it the mail that waits for that DID.
 *
 * The mail is encrypted for the DID, and only the account that proves the DID can be expected to read it.
 */
async function claim(tx: MediatorTx, did: string, now: string): Promise<void> {
  await tx
    .insertInto('recipient')
    .values({ did, account: did, created_at: now })
    .onConflict((conflict) => conflict.column('did').doUpdateSet({ account: did, created_at: now }))
    .execute()
  const elsewhere = tx
    .selectFrom('message')
    .select('sequence')
    .where('recipient', '=', did)
    .where('account', '!=', did)
  const own = tx.selectFrom('message').select('id').where('recipient', '=', did).where('account', '=', did)
  // The same message can wait in both queues.
  await tx.deleteFrom('message').where('sequence', 'in', elsewhere).where('id', 'in', own).execute()
  await tx.updateTable('message').set({ account: did }).where('sequence', 'in', elsewhere).execute()
}

/** The account that takes messages for a DID. */
export async function accountOf(tx: MediatorTx, recipient: string): Promise<string | undefined> {
  return (await tx.selectFrom('recipient').select('account').where('did', '=', recipient).executeTakeFirst())
    ?.account
}

export type UpdateResult = 'success' | 'no_change' | 'client_error' | 'server_error'

/**
 * Registers a recipient: `client_error` when it is another account's, `server_error` when the account has too many. The account's own DID is
 * taken from any other account: whoever asks has proved to control it.
 */
export async function addRecipient(
  tx: MediatorTx,
  account: string,
  recipient: string,
  { limit, now }: { limit: number; now: string },
): Promise<UpdateResult> {
  const owner = await accountOf(tx, recipient)
  if (owner === account) return 'no_change'
  const isProved = recipient === account
  if (owner !== undefined && !isProved) return 'client_error'
  if ((await countRecipients(tx, account)) >= limit) return 'server_error'
  if (isProved) await claim(tx, account, now)
  else await tx.insertInto('recipient').values({ did: recipient, account, created_at: now }).execute()
  return 'success'
}

/** Takes no more messages for a recipient; what waits for it can still be picked up. */
export async function removeRecipient(
  tx: MediatorTx,
  account: string,
  recipient: string,
): Promise<UpdateResult> {
  const { numDeletedRows } = await tx
    .deleteFrom('recipient')
    .where('did', '=', recipient)
    .where('account', '=', account)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n ? 'success' : 'no_change'
}

/** The recipients of an account, the oldest first. */
export async function listRecipients(
  tx: MediatorTx,
  account: string,
  limit: number,
  offset: number,
): Promise<string[]> {
  const rows = await tx
    .selectFrom('recipient')
    .select('did')
    .where('account', '=', account)
    .orderBy('created_at')
    .orderBy('did')
    .limit(limit)
    .offset(offset)
    .execute()
  return rows.map(({ did }) => did)
}

/** How many recipients an account has. */
export async function countRecipients(tx: MediatorTx, account: string): Promise<number> {
  const { count } = await tx
    .selectFrom('recipient')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account', '=', account)
    .executeTakeFirstOrThrow()
  return count
}
