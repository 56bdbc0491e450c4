/**
 * Adds the issuer certificates of issuers and of credential configurations, and the encryption of requests
 * and responses. Frozen.
 */
import { sql, type Kysely } from 'kysely'

const script = `
alter table credential_issuer add column certificate_id text;
alter table credential_issuer add column encryption_key text;
alter table credential_issuer add column encryption_required integer not null default 0;
alter table credential_configuration add column certificate_id text
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
