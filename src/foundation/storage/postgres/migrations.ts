/** Migrations of a PostgreSQL database, in order. A released migration never changes. */
import { type Migrations, script } from '../migrate.ts'
import { nodeTables, sharedTables } from './migrations/first-tables.ts'
import { ofWallets, shared } from './migrations/statements.ts'
import { walletTables } from './migrations/wallet-tables.ts'

/** The rows of all wallets are copied at once, which their policies forbid. */
const guarded = ['record', 'issuance_session', 'issuance_grant', 'issuance_token']
const kept = guarded.filter((table) => table !== 'issuance_session')

export const postgresMigrations: Migrations = {
  /** The first tables. */
  '001-init': script(shared(sharedTables), ofWallets(walletTables), [...nodeTables]),

  /** Adds the tables of OpenID4VCI issuers. */
  '002-openid4vci': script(
    shared(`
create table credential_issuer (
  id text primary key, sequence bigint not null unique, wallet_id text not null references wallet (id),
  authorization_server text, client_id text, client_secret text, created_at text not null
);
create index credential_issuer_page on credential_issuer (wallet_id, sequence);

create table credential_configuration (
  issuer_id text not null references credential_issuer (id) on delete cascade, id text not null,
  wallet_id text not null references wallet (id), format text not null, schema_id text not null,
  vct text, claims text not null, created_at text not null, primary key (issuer_id, id)
);
create index credential_configuration_page on credential_configuration (issuer_id, created_at, id);
create index credential_configuration_of on credential_configuration (wallet_id)
`),
    ofWallets(`
create table issuance_session (
  record_id text not null, issuer_id text not null, configuration_id text not null, authorization_server text,
  offer_digest text, state_digest text, code_digest text, authorized text, sealed text, guesses bigint not null,
  token_digest text, token_jkt text, token_expires_at text,
  primary key (record_id), unique (offer_digest), unique (state_digest), unique (code_digest), unique (token_digest),
  foreign key (record_id) references record (id) on delete cascade
);

create table issuance_nonce (digest text not null, expires_at text not null, primary key (digest));
create index issuance_nonce_expiry on issuance_nonce (expires_at);

alter table status_entry drop constraint status_entry_wallet_id_record_id_key;
create index status_entry_record on status_entry (record_id)
`),
  ),

  /** Adds the issuing keys with their certificates. */
  '003-issuer-certificate': script(
    ofWallets(`
create table issuer_certificate (
  sequence bigint not null, id text not null, public_key text not null, sealed text not null,
  request text, chain text, subject text not null, names text not null, not_after text,
  is_development bigint not null, created_at text not null, updated_at text not null,
  primary key (sequence), unique (id)
);
create index issuer_certificate_end on issuer_certificate (not_after) where not_after is not null
`),
  ),

  /** Adds the columns of wallet and key attestations. */
  '004-attestations': script(`
alter table credential_issuer add column wallet_providers text collate "C";
alter table credential_configuration add column key_attestation text collate "C"
`),

  /** Adds certificates and encryption of issuers. */
  '005-issuer-certificates': script(
    shared(`
alter table credential_issuer add column certificate_id text;
alter table credential_issuer add column encryption_key text;
alter table credential_issuer add column encryption_required bigint not null default 0;
alter table credential_configuration add column certificate_id text
`),
  ),

  /** Adds the VDR entries of the database driver. */
  '006-vdr-entry': script(
    shared(`
create table vdr_entry (
  id text primary key, wallet_id text not null references wallet (id), content text not null,
  created_at text not null, updated_at text not null
);
create index vdr_entry_of on vdr_entry (wallet_id, created_at)
`),
  ),

  /** Adds the events of storage entries on the embedded ledger. */
  '007-storage-event': script(
    shared(`
create table storage_event (
  hash text primary key, entry_id text not null, suffix text not null,
  sequence bigint not null references operation (sequence)
);
create index storage_event_of on storage_event (entry_id, sequence)
`),
  ),

  /** Adds the sessions of OpenID4VP requests. */
  '008-openid4vp': script(
    ofWallets(`
create table presentation_session (
  record_id text not null, token_digest text not null, code_digest text, sealed text,
  primary key (record_id), unique (token_digest), unique (code_digest),
  foreign key (record_id) references record (id) on delete cascade
)
`),
  ),

  /** Adds the permissions of subjects of the OpenID provider, and their names in the audit log. */
  '009-bearer-tokens': script(
    shared(`
create table wallet_permission (
  issuer text not null, subject text not null, wallet_id text not null references wallet (id),
  created_at text not null, primary key (issuer, subject, wallet_id)
);
create index wallet_permission_of on wallet_permission (wallet_id)
`),
    `
alter table entry add column issuer text collate "C", add column login text collate "C";
alter table begun add column issuer text collate "C", add column login text collate "C"
`,
  ),

  /** Adds the trust anchors of wallets. */
  '010-trust-anchor': script(
    ofWallets(`
create table trust_anchor (
  sequence bigint not null, id text not null, type text not null, value text not null,
  digest text not null, name text, subject text, key_id text, not_after text, created_at text not null,
  primary key (sequence), unique (id), unique (digest)
);
create index trust_anchor_type on trust_anchor (type)
`),
  ),

  /** Adds the columns of status lists on the ledger. */
  '011-ledger-list': script(`
alter table status_list add column media text collate "C" not null default '';
alter table status_list add column written_revision bigint;
alter table status_list add column operation_id text collate "C";
alter table status_list add column submitted_at text collate "C"
`),

  /** Adds the columns of DID requests and challenges over OpenID4VP. */
  '012-session-openid4vp': script(`
alter table enterprise_session add column expected_did text collate "C";
alter table enterprise_session add column answered_by text collate "C";
alter table enterprise_session add column openid4vp text collate "C"
`),

  /** Requests to webhooks with several events. */
  '013-webhook-batch': script(`
alter table webhook add column batch bigint;
alter table webhook add column retry_to bigint
`),

  /** Adds the columns of the display of issuers and credentials. */
  '014-display': script(`
alter table credential_issuer add column display text collate "C";
alter table credential_configuration add column display text collate "C";
alter table credential_configuration add column issuing_did text collate "C"
`),

  /** Names of DIDs. */
  '015-did-label': script(`
alter table did add column label text
`),

  /** Adds the certificates of ISO mdoc. */
  '016-mdoc-certificate': script(
    ofWallets(`
alter table issuer_certificate add column profile text;
alter table issuer_certificate add column authority_id text;
alter table issuer_certificate add column revoked_at text;
alter table trust_anchor add column doc_types text;
create table issuer_authority (
  sequence bigint not null, id text not null, profile text not null, country text, province text,
  curve text not null, certificate text not null, sealed text not null, revoked text not null,
  created_at text not null,
  primary key (sequence), unique (id)
)
`),
  ),

  /** Adds the document type of credential configurations. */
  '017-document': script(`
alter table credential_configuration add column document text collate "C"
`),

  /** Webhooks that get events of some types only. */
  '018-webhook-types': script(`
alter table webhook add column types text
`),

  /** Replaces the sessions of OpenID4VCI issuance by grants and access tokens. */
  '019-issuance-grant': script(
    ofWallets(`
alter table record add column place bigint not null default 0;
drop index record_thread;
create unique index record_thread on record (protocol, thid, role, place);

create table issuance_grant (
  id text not null, issuer_id text not null, records text not null, authorization_server text, state_digest text,
  code_digest text, authorized text, sealed text, guesses bigint not null, identity text,
  primary key (id), unique (state_digest), unique (code_digest)
);
create table issuance_token (
  digest text not null, grant_id text not null, records text not null, jkt text, expires_at text not null,
  primary key (digest), foreign key (grant_id) references issuance_grant (id) on delete cascade
);
create index issuance_token_grant on issuance_token (grant_id)
`),
    [
      ...guarded.map((table) => `alter table ${table} no force row level security`),
      `insert into issuance_grant
  select s.wallet_id, r.thid, s.issuer_id, jsonb_build_array(s.record_id)::text, s.authorization_server,
    s.state_digest, s.code_digest,
    (s.authorized::jsonb || jsonb_build_object('recordIds', jsonb_build_array(s.record_id)))::text,
    s.sealed, s.guesses, null
  from issuance_session s join record r on r.wallet_id = s.wallet_id and r.id = s.record_id`,
      `insert into issuance_token
  select s.wallet_id, s.token_digest, r.thid, jsonb_build_array(s.record_id)::text, s.token_jkt, s.token_expires_at
  from issuance_session s join record r on r.wallet_id = s.wallet_id and r.id = s.record_id
  where s.token_digest is not null and s.token_expires_at is not null`,
      'drop table issuance_session',
      ...kept.map((table) => `alter table ${table} force row level security`),
    ],
  ),

  /** Adds pictures of issuers, further settings of credential configurations and used type metadata. */
  '020-branding': script(
    `
alter table credential_configuration add column settings text collate "C"
`,
    shared(`
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
`),
  ),

  /** The log-in of an issuer, as the migration of that name adds it in SQLite. */
  '021-log-in': script(`
alter table credential_issuer add column log_in text collate "C"
`),

  /** Adds claims sources and the secrets for them. */
  '022-claims-source': script(`
alter table credential_issuer add column claims_secrets text collate "C";
alter table credential_configuration add column claims_source text collate "C"
`),

  /** Credentials that wallets may ask for without an offer, as in SQLite. */
  '023-access': script(`
alter table credential_configuration add column access text collate "C"
`),

  /** Refresh tokens of grants. */
  '024-refresh-token': script(
    `
alter table issuance_grant add column refresh_digest text collate "C";
alter table issuance_grant add column replaced_digest text collate "C";
alter table issuance_grant add column renewal text collate "C"
`,
    ofWallets(`
create unique index issuance_grant_refresh on issuance_grant (refresh_digest) where refresh_digest is not null;
create unique index issuance_grant_replaced on issuance_grant (replaced_digest) where replaced_digest is not null;
alter table issuance_token add column is_refreshed bigint not null default 0
`),
  ),

  /** Messages to the person of an offer, and the webhooks that send them. */
  '026-delivery': script(
    ofWallets(`
alter table webhook add column deliver bigint not null default 0;
create table offer_delivery (
  id text not null, grant_id text not null, link_digest text, sealed text,
  primary key (id), unique (link_digest),
  foreign key (grant_id) references issuance_grant (id) on delete cascade
);
create index offer_delivery_grant on offer_delivery (grant_id)
`),
  ),

  /** The refresh tokens that OpenID4VCI issuers have given to a wallet, as in SQLite. */
  '027-renewal-grant': script(
    ofWallets(`
create table renewal_grant (thid text not null, sealed text not null, primary key (thid))
`),
  ),

  /** The ends of access tokens, as `token-ends` and `bearer-deferral` in SQLite. */
  '028-token-ends': script(
    `
alter table issuance_token add column deferred_until text collate "C";
alter table issuance_token no force row level security;
update issuance_token set deferred_until = expires_at, expires_at = soon.at
from (select to_char(now() at time zone 'utc' + interval '10 minutes', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at) as soon
where expires_at > soon.at;
alter table issuance_token force row level security;
alter table credential_issuer add column bearer_deferral bigint not null default 1
`,
  ),

  /** What a person has presented before a grant. */
  '029-presentation': script(`
alter table issuance_grant add column presented text collate "C"
`),

  /** The texts of the messages of issuers, as in SQLite. */
  '030-delivery-texts': script(`
alter table credential_issuer add column delivery_texts text collate "C"
`),

  /** When copies of renewed credentials are to be revoked. */
  '031-copies': script(`
alter table status_entry add column revoke_at text collate "C"
`),
}
