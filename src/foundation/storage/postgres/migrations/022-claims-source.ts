/** Adds claims sources and the secrets for them, as the migration of that name does in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table credential_issuer add column claims_secrets text collate "C"`.execute(db)
  await sql`alter table credential_configuration add column claims_source text collate "C"`.execute(db)
}
