/** Adds the permissions of subjects of the OpenID provider, and their names in the audit log. Frozen. */
import { sql, type Kysely } from 'kysely'
import { collate } from './001-init.ts'

const tables = `
create table wallet_permission (
  issuer text not null, subject text not null, wallet_id text not null references wallet (id),
  created_at text not null, primary key (issuer, subject, wallet_id)
);
create index wallet_permission_of on wallet_permission (wallet_id)
`

const columns = `
alter table entry add column issuer text collate "C", add column login text collate "C";
alter table begun add column issuer text collate "C", add column login text collate "C"
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...tables.split(';').map(collate), ...columns.split(';')])
    await sql.raw(statement).execute(db)
}
