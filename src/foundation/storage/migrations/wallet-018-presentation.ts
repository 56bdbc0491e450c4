/** What a person has presented before a grant. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table issuance_grant add column presented text').execute(db)
}
