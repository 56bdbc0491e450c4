/** Adds the issuing keys with their certificates, as the migration of that name does in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'
import { collate, withWallet } from './001-init.ts'

const script = `
create table issuer_certificate (
  sequence bigint not null, id text not null, public_key text not null, sealed text not null,
  request text, chain text, subject text not null, names text not null, not_after text,
  is_development bigint not null, created_at text not null, updated_at text not null,
  primary key (sequence), unique (id)
);
create index issuer_certificate_end on issuer_certificate (not_after) where not_after is not null
`

export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = script.split(';').flatMap((statement) => withWallet(statement.trim()))
  for (const statement of statements) await sql.raw(collate(statement)).execute(db)
}
