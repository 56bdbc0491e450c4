/**
 * Ids of short links to invitations, DID requests and challenges. Those of earlier releases have none.
 * Frozen.
 */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table record
    add column short_id text
  `.execute(db)
  await sql`
    create unique index record_short_id on record (short_id)
    where short_id is not null
  `.execute(db)
  await sql`
    alter table enterprise_session
    add column short_id text
  `.execute(db)
  await sql`
    create unique index enterprise_session_short_id on enterprise_session (short_id)
    where short_id is not null
  `.execute(db)
}
