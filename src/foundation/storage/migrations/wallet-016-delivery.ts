/** Messages to the person of an offer, and the webhooks that send them. Frozen. */
import { sql, type Kysely } from 'kysely'

const script = `
alter table webhook add column deliver integer not null default 0;
create table offer_delivery (
  id text primary key, grant_id text not null references issuance_grant (id) on delete cascade,
  link_digest text unique, sealed text
);
create index offer_delivery_grant on offer_delivery (grant_id)
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
