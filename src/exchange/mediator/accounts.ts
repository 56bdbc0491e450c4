/**
 * Accounts and the DIDs they receive messages for (Coordinate Mediation 2.0 and 3.0). DIDs are route keys
 * (`toRouteKey`).
 */
import type { MediatorDb, MediatorTx } from '../../foundation/storage/database.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { stringsOf } from '../../foundation/storage/sql.ts'
import { forgetSizes } from './sizes.ts'

const selectAccount = prepared((db: MediatorDb, { account }: { account: string }) =>
  db.selectFrom('account').select('did').where('did', '=', account),
)

export async function isEnrolled(tx: MediatorTx, account: string): Promise<boolean> {
  return (await selectAccount(tx, { account })).rows.length > 0
}

/**
 * Enrols a DID and registers it as the account's first recipient. False when the limit on accounts is
 * reached.
 *
 * The sender has proved control of the DID, so another account that has registered it loses it.
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
 * Registers an account's own DID, taking it from any other account together with the messages queued for it:
 * they are encrypted for that DID, so only this account can read them.
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
  const others = await elsewhere.clearSelect().select('account').distinct().execute()
  if (others.length === 0) return
  const alreadyQueued = tx
    .selectFrom('message')
    .select('id')
    .where('recipient', '=', did)
    .where('account', '=', did)
  // The same message may be in both queues.
  await tx.deleteFrom('message').where('sequence', 'in', elsewhere).where('id', 'in', alreadyQueued).execute()
  await tx.updateTable('message').set({ account: did }).where('sequence', 'in', elsewhere).execute()
  for (const account of [did, ...others.map((other) => other.account)]) forgetSizes(tx, account, did)
}

const selectRecipient = prepared((db: MediatorDb, { recipient }: { recipient: string }) =>
  db.selectFrom('recipient').select('account').where('did', '=', recipient),
)

export async function findAccount(tx: MediatorTx, recipient: string): Promise<string | undefined> {
  return (await selectRecipient(tx, { recipient })).rows[0]?.account
}

export type UpdateResult = 'success' | 'no_change' | 'client_error' | 'server_error'

/**
 * Registers a recipient. `client_error` when another account has registered it, unless it is the DID of this
 * account, whose control the sender has proved; `server_error` when the account has too many recipients.
 */
export async function addRecipient(
  tx: MediatorTx,
  account: string,
  recipient: string,
  { limit, now }: { limit: number; now: string },
): Promise<UpdateResult> {
  const owner = await findAccount(tx, recipient)
  if (owner === account) return 'no_change'
  const isProved = recipient === account
  if (owner !== undefined && !isProved) return 'client_error'
  if ((await countRecipients(tx, account)) >= limit) return 'server_error'
  if (isProved) await claim(tx, account, now)
  else await tx.insertInto('recipient').values({ did: recipient, account, created_at: now }).execute()
  return 'success'
}

/** Unregisters a recipient. Its queued messages can still be picked up. */
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

/** The recipients of an account, oldest first. */
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

export async function countRecipients(tx: MediatorTx, account: string): Promise<number> {
  const { count } = await tx
    .selectFrom('recipient')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account', '=', account)
    .executeTakeFirstOrThrow()
  return count
}

/** Accuracy of `seen_at`, so that not every message writes it. */
const seenPrecisionMs = 3_600_000

/** Age from which on an account without recipients and messages makes room for a new one. */
const abandonedMs = 86_400_000

const updateSeen = prepared((db: MediatorDb, row: { accounts: string; now: string; before: string }) =>
  db
    .updateTable('account')
    .set({ seen_at: row.now })
    .where('did', 'in', stringsOf(db, row.accounts))
    .where('seen_at', '<', row.before),
)

/**
 * Stores that accounts are in use. `now` is in milliseconds since 1970. Does nothing for a DID without
 * account.
 */
export async function touch(tx: MediatorTx, accounts: readonly string[], now: number): Promise<void> {
  const [at, before] = [now, now - seenPrecisionMs].map((ms) => new Date(ms).toISOString()) as [
    string,
    string,
  ]
  await updateSeen(tx, { accounts: JSON.stringify(accounts), now: at, before })
}

/** Deletes accounts last seen before an instant, unless messages are queued for them. Returns their number. */
export async function removeIdle(tx: MediatorTx, before: string): Promise<number> {
  const { numDeletedRows } = await idle(tx, before).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/**
 * Deletes accounts that have registered no DID but their own, have no queued messages and were not seen for a
 * day. Returns their number. Called when the limit on accounts is reached, so that enrolling many DIDs does
 * not lock out others for long.
 */
export async function removeAbandoned(tx: MediatorTx, now: number): Promise<number> {
  const { numDeletedRows } = await idle(tx, new Date(now - abandonedMs).toISOString())
    .where((row) => {
      const registered = row
        .selectFrom('recipient')
        .select('recipient.did')
        .whereRef('recipient.account', '=', 'account.did')
      return row.not(row.exists(registered.whereRef('recipient.did', '!=', 'account.did')))
    })
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Deletes accounts without queued messages. Their recipients are deleted with them. */
function idle(tx: MediatorTx, before: string) {
  return tx
    .deleteFrom('account')
    .where('seen_at', '<', before)
    .where((row) =>
      row.not(
        row.exists(
          row.selectFrom('message').select('sequence').whereRef('message.account', '=', 'account.did'),
        ),
      ),
    )
}
