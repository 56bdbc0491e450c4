/** What a person has presented before a grant, as in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'
import { withWallet } from './001-init.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of withWallet('alter table issuance_grant add column presented text collate "C"'))
    await sql.raw(statement).execute(db)
}
