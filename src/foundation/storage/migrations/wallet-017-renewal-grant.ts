/** The refresh tokens that OpenID4VCI issuers have given to this wallet. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('create table renewal_grant (thid text primary key, sealed text not null)').execute(db)
}
