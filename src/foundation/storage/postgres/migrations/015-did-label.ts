/** Names of DIDs, as the migration of that name does in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table did add column label text').execute(db)
}
