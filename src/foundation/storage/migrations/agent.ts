/** Migrations of `agent.db`, in order. A released migration never changes. */
import { type Migrations, script } from '../migrate.ts'

export const agentMigrations: Migrations = {
  /** The first tables of `agent.db`, as release 0.1.0 created them. */
  '001-init': script(`
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
`),

  /** Numbers the wallets: short links contain the number of their wallet. */
  '002-wallet-number': script(`
alter table wallet add column number integer not null default 0;
update wallet set number = ranked.position
from (select id, row_number() over (order by created_at, id) as position from wallet) as ranked
where ranked.id = wallet.id;
create unique index wallet_number on wallet (number)
`),

  /** Adds the OpenID4VCI issuers and their credential configurations. */
  '003-openid4vci': script(`
create table credential_issuer (
  id text primary key, sequence integer not null unique, wallet_id text not null references wallet (id),
  authorization_server text, client_id text, client_secret text, created_at text not null
);
create index credential_issuer_page on credential_issuer (wallet_id, sequence);

create table credential_configuration (
  issuer_id text not null references credential_issuer (id) on delete cascade, id text not null,
  wallet_id text not null references wallet (id), format text not null, schema_id text not null,
  vct text, claims text not null, created_at text not null,
  constraint credential_configuration_pk primary key (issuer_id, id)
);
create index credential_configuration_page on credential_configuration (issuer_id, created_at, id);
create index credential_configuration_of on credential_configuration (wallet_id)
`),

  /**
   * Adds the wallet providers that OpenID4VCI issuers trust, and the key attestations that configurations
   * require.
   */
  '004-attestations': script(`
alter table credential_issuer add column wallet_providers text;
alter table credential_configuration add column key_attestation text
`),

  /**
   * Adds the issuer certificates of issuers and of credential configurations, and the encryption of requests
   * and responses.
   */
  '005-issuer-certificates': script(`
alter table credential_issuer add column certificate_id text;
alter table credential_issuer add column encryption_key text;
alter table credential_issuer add column encryption_required integer not null default 0;
alter table credential_configuration add column certificate_id text
`),

  /** Adds the VDR entries of the database driver. */
  '006-vdr-entry': script(`
create table vdr_entry (
  id text primary key, wallet_id text not null references wallet (id), content text not null,
  created_at text not null, updated_at text not null
);
create index vdr_entry_of on vdr_entry (wallet_id, created_at)
`),

  /** Adds the wallets that subjects of the OpenID provider may use. */
  '007-wallet-permission': script(`
create table wallet_permission (
  issuer text not null, subject text not null, wallet_id text not null references wallet (id),
  created_at text not null, primary key (issuer, subject, wallet_id)
);
create index wallet_permission_of on wallet_permission (wallet_id)
`),

  /**
   * Adds how OpenID4VCI issuers and their credentials look to people, and the DID that signs unless an offer
   * names another.
   */
  '008-display': script(`
alter table credential_issuer add column display text;
alter table credential_configuration add column display text;
alter table credential_configuration add column issuing_did text
`),

  /** Adds the document type of credential configurations of mdocs. */
  '009-document': script(`
alter table credential_configuration add column document text
`),

  /**
   * Adds pictures of issuers, further settings of credential configurations, and the type metadata whose
   * digests are in credentials. Types of earlier releases count as used; their metadata are stored when they
   * are next needed.
   */
  '010-branding': script(`
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
`),

  /** Adds the OpenID provider where people log in for the credentials of an issuer. */
  '011-log-in': script(`
alter table credential_issuer add column log_in text
`),

  /** Adds the claims source of credential configurations, and the secrets of issuers for it. */
  '012-claims-source': script(`
alter table credential_issuer add column claims_secrets text;
alter table credential_configuration add column claims_source text
`),

  /** Credentials that wallets may ask for without an offer. */
  '013-access': script(`
alter table credential_configuration add column access text
`),

  /** Whether bearer tokens of an OpenID4VCI issuer live longer at its deferred endpoint. */
  '014-bearer-deferral': script(`
alter table credential_issuer add column bearer_deferral integer not null default 1
`),

  /** The texts of the messages that deliver the offers of an issuer. */
  '015-delivery-texts': script(`
alter table credential_issuer add column delivery_texts text
`),
}
