/**
 * Messages to the person of an offer, and the webhooks that send them, as the migration of that name does in
 * SQLite. Frozen.
 */
import { sql, type Kysely } from 'kysely'
import { collate, withWallet } from './001-init.ts'

const tables = `
alter table webhook add column deliver bigint not null default 0;
create table offer_delivery (
  id text not null, grant_id text not null, link_digest text, sealed text,
  primary key (id), unique (link_digest),
  foreign key (grant_id) references issuance_grant (id) on delete cascade
);
create index offer_delivery_grant on offer_delivery (grant_id)
`

export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = tables.split(';').flatMap((statement) => withWallet(statement.trim()))
  for (const statement of statements) await sql.raw(collate(statement)).execute(db)
}
