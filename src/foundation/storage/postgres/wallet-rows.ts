/** All rows of a wallet. */
import { type Kysely, sql } from 'kysely'
import type { Db } from '../database.ts'
import type { WalletTables } from '../wallet-tables.ts'
import type { CopiedTable } from './copy-rows.ts'

/** The tables of wallets, with their keys. Tables come after those that their rows refer to. */
const keys = {
  setting: ['name'],
  record: ['id'],
  job: ['sequence'],
  inbox: ['id'],
  event: ['sequence'],
  webhook: ['id'],
  dead_letter: ['webhook_id', 'event_sequence'],
  redelivery: ['webhook_id', 'event_sequence'],
  delivery_attempt: ['sequence'],
  peer_did: ['did'],
  did: ['did'],
  did_operation: ['id'],
  did_key: ['did', 'key_id', 'operation_id'],
  message: ['sequence'],
  ping: ['sequence'],
  enterprise_session: ['sequence'],
  message_log: ['sequence'],
  definition_key: ['guid'],
  status_list: ['id'],
  status_entry: ['list_id', 'list_index'],
  credential: ['id'],
  proof_nonce: ['nonce'],
  verification_policy: ['sequence'],
  issuance_grant: ['id'],
  issuance_token: ['digest'],
  issuance_nonce: ['digest'],
  offer_delivery: ['id'],
  renewal_grant: ['thid'],
  issuer_certificate: ['sequence'],
  issuer_authority: ['sequence'],
  presentation_session: ['record_id'],
  trust_anchor: ['sequence'],
} as const satisfies Record<keyof WalletTables, CopiedTable['key']>

export const walletTables = Object.keys(keys) as (keyof WalletTables)[]

/** The rows of one wallet, for `copyRows`. */
export const copiedWalletTables: readonly CopiedTable[] = walletTables.map((name) => ({
  name,
  key: keys[name],
}))

/** Names the wallet whose rows a transaction reads and writes from now on. */
export async function nameWallet(tx: Kysely<any>, walletId: string): Promise<void> {
  await sql`select set_config('app.wallet', ${walletId}, true)`.execute(tx)
}

const filledTables = sql<{ name: keyof WalletTables }>`${sql.join(
  walletTables.map(
    (name) => sql`select ${sql.lit(name)} as name where exists (select from ${sql.table(name)})`,
  ),
  sql` union all `,
)}`

/**
 * The tables in which the wallet of a transaction has rows. A wallet has few at first, and each one costs a
 * round trip.
 */
export async function findFilledTables(db: Kysely<any>): Promise<CopiedTable[]> {
  const { rows } = await filledTables.execute(db)
  const names = new Set<string>(rows.map(({ name }) => name))
  return copiedWalletTables.filter(({ name }) => names.has(name))
}

/** The bytes of all rows of a wallet, without indexes. It reads the wallet's part of each table. */
export async function readRowBytes(db: Db): Promise<number> {
  const sizes = walletTables.map(
    (table) => sql`(select coalesce(sum(pg_column_size(row.*)), 0) from ${sql.table(table)} as row)`,
  )
  const { rows } = await sql<{ bytes: number }>`select ${sql.join(sizes, sql` + `)} as bytes`.execute(db)
  return rows[0]!.bytes
}

export async function deleteWalletRows(tx: Db): Promise<void> {
  for (const table of walletTables.toReversed()) await tx.deleteFrom(table).execute()
}
