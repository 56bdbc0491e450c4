/** Names of DIDs. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table did add column label text').execute(db)
}
