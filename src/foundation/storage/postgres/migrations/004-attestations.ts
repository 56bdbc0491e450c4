/** Adds the columns of wallet and key attestations, as the migration of that name does in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'

const script = `
alter table credential_issuer add column wallet_providers text collate "C";
alter table credential_configuration add column key_attestation text collate "C"
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
