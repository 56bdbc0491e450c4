/**
 * Adds pictures of issuers, further settings of credential configurations and used type metadata, as the
 * migration of that name does in SQLite. Frozen.
 */
import { sql, type Kysely } from 'kysely'
import { collate } from './001-init.ts'

const script = `
create table credential_media (
  issuer_id text not null references credential_issuer (id) on delete cascade, digest text not null,
  wallet_id text not null references wallet (id), media_type text not null, content text not null,
  created_at text not null, primary key (issuer_id, digest)
);
create index credential_media_of on credential_media (wallet_id);

create table credential_type (
  issuer_id text not null, configuration_id text not null, version bigint not null, wallet_id text not null,
  document text, created_at text not null, primary key (issuer_id, configuration_id, version)
);
create index credential_type_of on credential_type (wallet_id);

insert into credential_type (issuer_id, configuration_id, version, wallet_id, created_at)
select issuer_id, id, 1, wallet_id, created_at from credential_configuration where vct is null and document is null
`

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table credential_configuration add column settings text collate "C"`.execute(db)
  for (const statement of script.split(';')) await sql.raw(collate(statement)).execute(db)
}
