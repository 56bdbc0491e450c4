/** Certificates of ISO mdoc with their authorities, and trust anchors for document types. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['profile text', 'authority_id text', 'revoked_at text'])
    await sql.raw(`alter table issuer_certificate add column ${column}`).execute(db)
  await sql.raw('alter table trust_anchor add column doc_types text').execute(db)
  await sql`
    create table issuer_authority (
      sequence integer primary key, id text not null unique, profile text not null, country text, province text,
      curve text not null, certificate text not null, sealed text not null, revoked text not null,
      created_at text not null
    )`.execute(db)
}
