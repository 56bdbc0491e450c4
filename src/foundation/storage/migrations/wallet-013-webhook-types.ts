/** Webhooks that get events of some types only. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table webhook add column types text').execute(db)
}
