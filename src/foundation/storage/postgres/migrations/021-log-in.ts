/** The log-in of an issuer, as the migration of that name adds it in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table credential_issuer add column log_in text collate "C"').execute(db)
}
