/**
 * Status lists that are VDR entries on the ledger. `media` is empty for a list that is served by HTTP in all
 * forms. Frozen.
 */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of [
    `media text not null default ''`,
    'written_revision integer',
    'operation_id text',
    'submitted_at text',
  ])
    await sql.raw(`alter table status_list add column ${column}`).execute(db)
}
