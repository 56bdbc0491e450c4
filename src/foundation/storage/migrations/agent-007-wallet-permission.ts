/** Adds the wallets that subjects of the OpenID provider may use. Frozen. */
import { sql, type Kysely } from 'kysely'

const script = `
create table wallet_permission (
  issuer text not null, subject text not null, wallet_id text not null references wallet (id),
  created_at text not null, primary key (issuer, subject, wallet_id)
);
create index wallet_permission_of on wallet_permission (wallet_id)
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
