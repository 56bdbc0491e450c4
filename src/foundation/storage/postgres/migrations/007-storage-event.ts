/** Adds the events of storage entries on the embedded ledger. Frozen. */
import { sql, type Kysely } from 'kysely'
import { collate } from './001-init.ts'

const script = `
create table storage_event (
  hash text primary key, entry_id text not null, suffix text not null,
  sequence bigint not null references operation (sequence)
);
create index storage_event_of on storage_event (entry_id, sequence)
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(collate(statement)).execute(db)
}
