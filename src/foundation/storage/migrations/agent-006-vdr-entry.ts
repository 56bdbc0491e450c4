/** Adds the VDR entries of the database driver. Frozen. */
import { sql, type Kysely } from 'kysely'

const script = `
create table vdr_entry (
  id text primary key, wallet_id text not null references wallet (id), content text not null,
  created_at text not null, updated_at text not null
);
create index vdr_entry_of on vdr_entry (wallet_id, created_at)
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
