/** Adds the document type of credential configurations, as the migration of that name does in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table credential_configuration add column document text collate "C"`.execute(db)
}
