/** Adds the OpenID provider where people log in for the credentials of an issuer. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table credential_issuer add column log_in text`.execute(db)
}
