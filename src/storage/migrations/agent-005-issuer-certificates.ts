/** Adds the issuer certificates of issuers and of credential configurations. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['credential_issuer', 'credential_configuration'])
    await sql.raw(`alter table ${table} add column certificate_id text`).execute(db)
}
