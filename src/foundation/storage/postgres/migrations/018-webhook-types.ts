/** Webhooks that get events of some types only, as the migration of that name does in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table webhook add column types text').execute(db)
}
