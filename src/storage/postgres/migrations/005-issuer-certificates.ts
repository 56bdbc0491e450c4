/** Adds the issuer certificates of issuers and of credential configurations, as `agent-005-issuer-certificates.ts` does in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'
import { collate } from './001-init.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['credential_issuer', 'credential_configuration'])
    await sql.raw(collate(`alter table ${table} add column certificate_id text`)).execute(db)
}
