/** The P-256 keys of issuers, with their certificates. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table issuer_certificate (
      sequence integer primary key, id text not null unique, public_key text not null, sealed text not null,
      request text, chain text, subject text not null, names text not null, not_after text,
      is_development integer not null, created_at text not null, updated_at text not null
    )`.execute(db)
  await sql`
    create index issuer_certificate_end on issuer_certificate (not_after)
    where not_after is not null`.execute(db)
}
