/** Adds the certificates of ISO mdoc, as the migration of that name does in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'
import { collate, withWallet } from './001-init.ts'

const columns = `
alter table issuer_certificate add column profile text;
alter table issuer_certificate add column authority_id text;
alter table issuer_certificate add column revoked_at text;
alter table trust_anchor add column doc_types text
`

const table = `
create table issuer_authority (
  sequence bigint not null, id text not null, profile text not null, country text, province text,
  curve text not null, certificate text not null, sealed text not null, revoked text not null,
  created_at text not null,
  primary key (sequence), unique (id)
)
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...columns.split(';'), ...withWallet(table.trim())])
    await sql.raw(collate(statement)).execute(db)
}
