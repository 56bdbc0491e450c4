/** Whether bearer tokens of an OpenID4VCI issuer live longer at its deferred endpoint. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  const column = 'bearer_deferral integer not null default 1'
  await sql.raw(`alter table credential_issuer add column ${column}`).execute(db)
}
