/** Sessions of OpenID4VP requests: rows that find the record of a request by its public URL. Secrets are stored as digests. */
import type { Selectable } from 'kysely'
import type { PrivateJwk } from '../crypto/keys.ts'
import type { Db, Tx } from '../storage/database.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { P256PrivateJwk } from '../oid4vci/encryption-key.ts'
import { digestOf } from '../oid4vci/session.ts'

export type SessionRow = Selectable<WalletTables['presentation_session']>

export async function insertSession(tx: Tx, row: SessionRow): Promise<void> {
  await tx.insertInto('presentation_session').values(row).execute()
}

/** The session of the last part of a request's URL. */
export function findSession(db: Db, token: string): Promise<SessionRow | undefined> {
  const sessions = db.selectFrom('presentation_session').selectAll()
  return sessions.where('token_digest', '=', digestOf(token)).executeTakeFirst()
}

const contextOf = (recordId: string) => `presentation-session:${recordId}`

/** Seals the key that decrypts the response. */
export function sealKey(wallet: Wallet, recordId: string, key: PrivateJwk): string {
  return wallet.seal(contextOf(recordId), JSON.stringify(key))
}

/** The key that decrypts the response, until the request has ended. */
export async function findKey(wallet: Wallet, recordId: string): Promise<PrivateJwk | undefined> {
  const sessions = wallet.db.selectFrom('presentation_session').select('sealed')
  const row = await sessions.where('record_id', '=', recordId).executeTakeFirst()
  if (row?.sealed == null) return undefined
  return P256PrivateJwk.parse(JSON.parse(wallet.unseal(contextOf(recordId), row.sealed)))
}

/** Forgets the key: the request has ended. */
export async function forgetKey(tx: Tx, recordId: string): Promise<void> {
  const update = tx.updateTable('presentation_session').set({ sealed: null })
  await update.where('record_id', '=', recordId).execute()
}

/** Stores the digest of the code that the person's browser gets. */
export async function storeResponseCode(tx: Tx, recordId: string, code: string): Promise<void> {
  const update = tx.updateTable('presentation_session').set({ code_digest: digestOf(code) })
  await update.where('record_id', '=', recordId).execute()
}

/** Uses up the response code of a record. False if it has another, or the code was used. */
export async function useResponseCode(tx: Tx, recordId: string, code: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('presentation_session')
    .set({ code_digest: null })
    .where('record_id', '=', recordId)
    .where('code_digest', '=', digestOf(code))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
