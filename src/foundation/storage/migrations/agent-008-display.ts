/**
 * Adds how OpenID4VCI issuers and their credentials look to people, and the DID that signs unless an offer
 * names another. Frozen.
 */
import { sql, type Kysely } from 'kysely'

const script = `
alter table credential_issuer add column display text;
alter table credential_configuration add column display text;
alter table credential_configuration add column issuing_did text
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
