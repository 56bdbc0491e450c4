/** The first tables of `agent.db`, as release 0.1.0 created them. Frozen. */
import { sql, type Kysely } from 'kysely'

const script = `
create table setting (name text primary key, value text not null);

create table wallet (
  id text primary key, name text not null, wrapped_key text not null, seed_digest text not null unique,
  created_at text not null, updated_at text not null, moved_at text, arrived text
);
create index wallet_page on wallet (created_at, id);

create table entity (
  id text primary key, name text not null, wallet_id text not null references wallet (id),
  created_at text not null, updated_at text not null
);
create index entity_page on entity (created_at, id);

create table api_key (
  digest text primary key, entity_id text not null, id text not null unique, name text, scopes text,
  created_at text not null, last_used_at text, expires_at text, revoked_at text
);
create index api_key_page on api_key (entity_id, created_at, id);

create table web_did (
  did text primary key, wallet_id text not null references wallet (id), created_at text not null
);

create table presentation_definition (
  sequence integer primary key, id text not null unique, wallet_id text not null references wallet (id),
  definition text not null, created_at text not null
);
create index presentation_definition_page on presentation_definition (wallet_id, sequence);

create table credential_schema (
  guid text primary key, position text not null, id text not null, wallet_id text not null,
  author text not null, name text not null, version text not null, description text not null,
  type text not null, schema text not null, tags text not null, proof text, resolution_method text not null,
  authored text not null
);
create unique index credential_schema_version on credential_schema (wallet_id, id, version);
create index credential_schema_position on credential_schema (wallet_id, position);

create table credential_schema_tag (
  guid text not null references credential_schema (guid), tag text not null,
  constraint credential_schema_tag_pk primary key (guid, tag)
);

create table wallet_alias (
  token text not null, kind text not null, wallet_id text not null references wallet (id),
  constraint wallet_alias_pk primary key (token, kind)
);
create index wallet_alias_of on wallet_alias (wallet_id);

create table credential_definition (
  guid text primary key, position text not null, id text not null, wallet_id text not null,
  author text not null, name text not null, version text not null, description text not null,
  tag text not null, schema_id text not null, attributes text not null, support_revocation integer not null,
  definition text, key_correctness_proof text, resolution_method text not null, authored text not null
);
create unique index credential_definition_version on credential_definition (wallet_id, id, version);
create index credential_definition_position on credential_definition (wallet_id, position);
create index credential_definition_owed on credential_definition (position) where definition is null
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
