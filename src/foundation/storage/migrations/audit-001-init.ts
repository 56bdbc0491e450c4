/** The first tables of `audit.db`, as release 0.1.0 created them. Frozen. */
import { sql, type Kysely } from 'kysely'

const script = `
create table entry (
  sequence integer primary key, at text not null, actor text not null, entity_id text, key_id text,
  address text, action text not null, wallet_id text, subject text, request_id text, outcome text not null,
  status integer, problem_type text, count integer, previous text not null, digest text not null
);

create table begun (
  id text primary key, at text not null, actor text not null, entity_id text, key_id text, address text,
  action text not null, wallet_id text, subject text, request_id text, mac text not null
)
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
