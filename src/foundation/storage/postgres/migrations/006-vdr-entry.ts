/** Adds the VDR entries of the database driver, as the migration of that name does in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'
import { collate } from './001-init.ts'

const script = `
create table vdr_entry (
  id text primary key, wallet_id text not null references wallet (id), content text not null,
  created_at text not null, updated_at text not null
);
create index vdr_entry_of on vdr_entry (wallet_id, created_at)
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(collate(statement)).execute(db)
}
