/** Credentials that wallets may ask for without an offer, as in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table credential_configuration add column access text collate "C"').execute(db)
}
