/** Refresh tokens of grants, and access tokens that were refreshed. Frozen. */
import { sql, type Kysely } from 'kysely'

const script = `
alter table issuance_grant add column refresh_digest text;
alter table issuance_grant add column replaced_digest text;
alter table issuance_grant add column renewal text;
create unique index issuance_grant_refresh on issuance_grant (refresh_digest) where refresh_digest is not null;
create unique index issuance_grant_replaced on issuance_grant (replaced_digest) where replaced_digest is not null;
alter table issuance_token add column is_refreshed integer not null default 0
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
