/** The sessions of OpenID4VP requests. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table presentation_session (
      record_id text primary key references record (id) on delete cascade, token_digest text not null unique,
      code_digest text unique, sealed text
    )`.execute(db)
}
