/** Adds the claims source of credential configurations, and the secrets of issuers for it. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table credential_issuer add column claims_secrets text`.execute(db)
  await sql`alter table credential_configuration add column claims_source text`.execute(db)
}
