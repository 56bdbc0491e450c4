/** Adds the issuer certificates of credential configurations, as `agent-004-issuer-certificates.ts` does in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'
import { collate } from './001-init.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  const statement = 'alter table credential_configuration add column certificate_id text'
  await sql.raw(collate(statement)).execute(db)
}
