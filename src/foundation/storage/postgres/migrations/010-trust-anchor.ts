/** Adds the trust anchors of wallets, as the migration of that name does in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'
import { collate, withWallet } from './001-init.ts'

const script = `
create table trust_anchor (
  sequence bigint not null, id text not null, type text not null, value text not null,
  digest text not null, name text, subject text, key_id text, not_after text, created_at text not null,
  primary key (sequence), unique (id), unique (digest)
);
create index trust_anchor_type on trust_anchor (type)
`

export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = script.split(';').flatMap((statement) => withWallet(statement.trim()))
  for (const statement of statements) await sql.raw(collate(statement)).execute(db)
}
