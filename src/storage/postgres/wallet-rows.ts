/** All rows of a wallet. */
import { sql } from 'kysely'
import type { Db } from '../database.ts'
import type { WalletTables } from '../wallet-tables.ts'

/** The tables of wallets. Tables come after those that their rows refer to. */
export const walletTables = [
  'setting',
  'record',
  'job',
  'inbox',
  'event',
  'webhook',
  'dead_letter',
  'redelivery',
  'delivery_attempt',
  'peer_did',
  'did',
  'did_operation',
  'did_key',
  'message',
  'ping',
  'enterprise_session',
  'message_log',
  'definition_key',
  'status_list',
  'status_entry',
  'credential',
  'proof_nonce',
  'verification_policy',
] as const satisfies (keyof WalletTables)[]

/** The bytes of all rows of a wallet, without indexes. It reads the wallet's part of each table. */
export async function readRowBytes(db: Db): Promise<number> {
  const sizes = walletTables.map(
    (table) => sql`(select coalesce(sum(pg_column_size(row.*)), 0) from ${sql.table(table)} as row)`,
  )
  const { rows } = await sql<{ bytes: number }>`select ${sql.join(sizes, sql` + `)} as bytes`.execute(db)
  return rows[0]!.bytes
}

/** Deletes all rows of the wallet of a transaction. */
export async function deleteWalletRows(tx: Db): Promise<void> {
  for (const table of walletTables.toReversed()) await tx.deleteFrom(table).execute()
}
