/** Adds the sessions of OpenID4VP requests, as the migration of that name does in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'
import { collate, withWallet } from './001-init.ts'

const table = `
create table presentation_session (
  record_id text not null, token_digest text not null, code_digest text, sealed text,
  primary key (record_id), unique (token_digest), unique (code_digest),
  foreign key (record_id) references record (id) on delete cascade
)`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of withWallet(table.trim())) await sql.raw(collate(statement)).execute(db)
}
