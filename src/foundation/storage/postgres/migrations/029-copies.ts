/** The ends of access tokens and of copies, as `copies` and `bearer-deferral` do in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'
import { collate } from './001-init.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(collate('alter table status_entry add column revoke_at text')).execute(db)
  await sql.raw(collate('alter table issuance_token add column deferred_until text')).execute(db)
  const soon = new Date(Date.now() + 600_000).toISOString()
  // The rows of all wallets are changed at once, which their policies forbid.
  await sql.raw('alter table issuance_token no force row level security').execute(db)
  await sql`update issuance_token set deferred_until = expires_at, expires_at = ${soon} where expires_at > ${soon}`.execute(
    db,
  )
  await sql.raw('alter table issuance_token force row level security').execute(db)
  const column = 'bearer_deferral bigint not null default 1'
  await sql.raw(`alter table credential_issuer add column ${column}`).execute(db)
}
