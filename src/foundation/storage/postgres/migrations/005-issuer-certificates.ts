/** Adds certificates and encryption of issuers, as `agent-005-issuer-certificates.ts` does in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'
import { collate } from './001-init.ts'

const script = `
alter table credential_issuer add column certificate_id text;
alter table credential_issuer add column encryption_key text;
alter table credential_issuer add column encryption_required bigint not null default 0;
alter table credential_configuration add column certificate_id text
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(collate(statement)).execute(db)
}
