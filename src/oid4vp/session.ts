/** Sessions of OpenID4VP requests: rows that find the record of a request by its public URL. Secrets are stored as digests. */
import type { Selectable } from 'kysely'
import type { Db, Tx } from '../storage/database.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
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
