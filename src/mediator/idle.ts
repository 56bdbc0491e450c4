/** Accounts of wallets that come no more: they make room, unless something waits for them. */
import type { MediatorTx } from '../storage/database.ts'

/** The time of an account's last message is right to within this, so that not every message writes it. */
const precisionMs = 3_600_000

/** How long a wallet has, at least, to register a DID or be heard of again before its room may be somebody else's. */
const unusedMs = 86_400_000

/** Writes down that an account, if it is one, was heard of; `now` in milliseconds since 1970. */
export async function touch(tx: MediatorTx, account: string, now: number): Promise<void> {
  await tx
    .updateTable('account')
    .set({ seen_at: new Date(now).toISOString() })
    .where('did', '=', account)
    .where('seen_at', '<', new Date(now - precisionMs).toISOString())
    .execute()
}

/** Removes the accounts that were not heard of since an instant, with their recipients. How many. */
export async function removeIdle(tx: MediatorTx, before: string): Promise<number> {
  const { numDeletedRows } = await idle(tx, before).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/**
 * Removes accounts that nothing came of: no DID is registered but the account's own, and it was not heard of for a day. How many.
 *
 * For when there is no room: a wallet that enrolled and left, or somebody who enrols DID after DID, keeps nobody out for long.
 */
export async function removeUnused(tx: MediatorTx, now: number): Promise<number> {
  const { numDeletedRows } = await idle(tx, new Date(now - unusedMs).toISOString())
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

/** Deletes accounts that nothing waits for. Their recipients go with them. */
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
