/** Adds the columns of status lists on the ledger, as the migration of that name does in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'

const script = `
alter table status_list add column media text collate "C" not null default '';
alter table status_list add column written_revision bigint;
alter table status_list add column operation_id text collate "C";
alter table status_list add column submitted_at text collate "C"
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
