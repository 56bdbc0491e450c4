/** The refresh tokens that OpenID4VCI issuers have given to a wallet, as in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'
import { collate, withWallet } from './001-init.ts'

const table = `create table renewal_grant (thid text not null, sealed text not null, primary key (thid))`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of withWallet(table)) await sql.raw(collate(statement)).execute(db)
}
