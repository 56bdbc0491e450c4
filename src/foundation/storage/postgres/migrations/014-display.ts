/**
 * Adds the columns of the display of issuers and credentials, as the migration of that name does in SQLite.
 * Frozen.
 */
import { sql, type Kysely } from 'kysely'

const script = `
alter table credential_issuer add column display text collate "C";
alter table credential_configuration add column display text collate "C";
alter table credential_configuration add column issuing_did text collate "C"
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
