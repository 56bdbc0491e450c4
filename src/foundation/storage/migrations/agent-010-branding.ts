/**
 * Adds pictures of issuers, further settings of credential configurations, and the type metadata whose
 * digests are in credentials. Types of earlier releases count as used; their metadata are stored when they
 * are next needed. Frozen.
 */
import { sql, type Kysely } from 'kysely'

const script = `
alter table credential_configuration add column settings text;

create table credential_media (
  issuer_id text not null references credential_issuer (id) on delete cascade, digest text not null,
  wallet_id text not null references wallet (id), media_type text not null, content text not null,
  created_at text not null,
  constraint credential_media_pk primary key (issuer_id, digest)
);
create index credential_media_of on credential_media (wallet_id);

create table credential_type (
  issuer_id text not null, configuration_id text not null, version integer not null, wallet_id text not null,
  document text, created_at text not null,
  constraint credential_type_pk primary key (issuer_id, configuration_id, version)
);
create index credential_type_of on credential_type (wallet_id);

insert into credential_type (issuer_id, configuration_id, version, wallet_id, created_at)
select issuer_id, id, 1, wallet_id, created_at from credential_configuration where vct is null and document is null
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
