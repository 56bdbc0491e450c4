/** Requests to webhooks with several events, as the migration of that name does in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['batch bigint', 'retry_to bigint'])
    await sql.raw(`alter table webhook add column ${column}`).execute(db)
}
