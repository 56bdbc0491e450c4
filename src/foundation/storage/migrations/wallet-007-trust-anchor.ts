/** The trust anchors of a wallet. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table trust_anchor (
      sequence integer primary key, id text not null unique, type text not null, value text not null,
      digest text not null unique, name text, subject text, key_id text, not_after text, created_at text not null
    )`.execute(db)
  await sql`create index trust_anchor_type on trust_anchor (type)`.execute(db)
}
