/** Refresh tokens of grants, as the migration of that name does in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'
import { withWallet } from './001-init.ts'

const script = `
alter table issuance_grant add column refresh_digest text collate "C";
alter table issuance_grant add column replaced_digest text collate "C";
alter table issuance_grant add column renewal text collate "C";
create unique index issuance_grant_refresh on issuance_grant (refresh_digest) where refresh_digest is not null;
create unique index issuance_grant_replaced on issuance_grant (replaced_digest) where replaced_digest is not null;
alter table issuance_token add column is_refreshed bigint not null default 0
`

export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = script.split(';').flatMap((statement) => withWallet(statement.trim()))
  for (const statement of statements) await sql.raw(statement).execute(db)
}
