/** Requests to webhooks with several events. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['batch integer', 'retry_to integer'])
    await sql.raw(`alter table webhook add column ${column}`).execute(db)
}
