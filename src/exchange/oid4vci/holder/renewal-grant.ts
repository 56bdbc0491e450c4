/**
 * What the wallet renews credentials with: the refresh token (RFC 6749 §6) and the keys that it is bound to.
 * The credentials of one offer share it, so that all have the token of the last rotation.
 */
import * as z from 'zod'
import { P256PrivateJwk } from '../../../foundation/oauth/secrets.ts'
import type { Db, Tx } from '../../../foundation/storage/database.ts'
import { cancelQueue } from '../../../wallet/outbox/job.ts'
import type { CredentialRecord } from '../../issuance/model.ts'
import { renewalQueueOf } from '../../issuance/renewal.ts'
import type { Wallet } from '../../../wallet/wallet.ts'

const RenewalGrant = z.object({
  refreshToken: z.string(),
  dpopKey: P256PrivateJwk.optional(),
  /** The key of the wallet attestation. */
  clientKey: P256PrivateJwk.optional(),
})
export type RenewalGrant = z.infer<typeof RenewalGrant>

const contextOf = (thid: string) => `openid4vci-renewal:${thid}`

/** Stores a refresh token in place of the previous one of the offer. */
export async function storeGrant(tx: Tx, wallet: Wallet, thid: string, grant: RenewalGrant): Promise<void> {
  const sealed = wallet.seal(contextOf(thid), JSON.stringify(grant))
  await tx
    .insertInto('renewal_grant')
    .values({ thid, sealed })
    .onConflict((conflict) => conflict.column('thid').doUpdateSet({ sealed }))
    .execute()
}

export async function findGrant(db: Db, wallet: Wallet, thid: string): Promise<RenewalGrant | undefined> {
  const row = await db
    .selectFrom('renewal_grant')
    .select('sealed')
    .where('thid', '=', thid)
    .executeTakeFirst()
  return row && RenewalGrant.parse(JSON.parse(wallet.unseal(contextOf(thid), row.sealed)))
}

export async function removeGrant(tx: Tx, thid: string): Promise<void> {
  await tx.deleteFrom('renewal_grant').where('thid', '=', thid).execute()
}

/** Ends the renewal of a credential that is removed; the refresh token goes with the last one of its offer. */
export async function removeRenewal(tx: Tx, { id, thid }: CredentialRecord): Promise<void> {
  await cancelQueue(tx, renewalQueueOf(id))
  const rows = tx.selectFrom('record').select('id').where('thid', '=', thid).where('role', '=', 'Holder')
  const other = await rows.where('id', '!=', id).limit(1).executeTakeFirst()
  if (!other) await removeGrant(tx, thid)
}
