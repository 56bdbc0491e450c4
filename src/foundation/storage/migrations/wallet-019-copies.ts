/**
 * Access tokens that are good at the deferred endpoint alone after a short time, and copies of credentials
 * that are to be revoked. Frozen.
 */
import { sql, type Kysely } from 'kysely'

/** Tokens of earlier releases were good at every endpoint for as long. They have ten minutes left there. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table status_entry add column revoke_at text').execute(db)
  await sql.raw('alter table issuance_token add column deferred_until text').execute(db)
  const soon = new Date(Date.now() + 600_000).toISOString()
  await sql`update issuance_token set deferred_until = expires_at, expires_at = ${soon} where expires_at > ${soon}`.execute(
    db,
  )
}
