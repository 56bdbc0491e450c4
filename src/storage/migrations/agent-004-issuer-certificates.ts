/** Adds the issuer certificates that credential configurations name. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table credential_configuration add column certificate_id text').execute(db)
}
