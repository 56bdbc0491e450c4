/** Migrations of the database file of a wallet, in order. A released migration never changes. */
import { type Migrations, script } from '../migrate.ts'
import { firstTables } from './wallet-init.ts'

export const walletMigrations: Migrations = {
  /** The first tables of a wallet, as release 0.1.0 created them. */
  '001-init': script(firstTables),
  /** Renames the table `outbox` to `job`, its column `lane` to `queue`, and the kind `work` to `task`. */
  '002-job': script(`
alter table outbox rename to job;
alter table job rename column lane to queue;
drop index outbox_lane;
create index job_queue on job (queue, sequence);
update job
set kind = 'task',
    body = json_remove(json_set(body, '$.kind', 'task', '$.task', json_extract(body, '$.work')), '$.work')
where kind = 'work'
`),

  /** Ids of short links to invitations, DID requests and challenges. Those of earlier releases have none. */
  '003-short-id': script(`
alter table record add column short_id text;
create unique index record_short_id on record (short_id) where short_id is not null;
alter table enterprise_session add column short_id text;
create unique index enterprise_session_short_id on enterprise_session (short_id) where short_id is not null
`),

  /**
   * Adds the sessions of OpenID4VCI issuance, and the nonces that key proofs have used. A record may have
   * several status entries, for the credentials of a batch.
   */
  '004-openid4vci': script(`
create table issuance_session (
  record_id text primary key references record (id) on delete cascade, issuer_id text not null,
  configuration_id text not null, authorization_server text, offer_digest text unique, state_digest text unique, code_digest text unique,
  authorized text, sealed text, guesses integer not null, token_digest text unique, token_jkt text,
  token_expires_at text
);

create table issuance_nonce (digest text primary key, expires_at text not null);
create index issuance_nonce_expiry on issuance_nonce (expires_at);

create table status_entries (
  list_id text not null references status_list (id), list_index integer not null, record_id text not null,
  revoked_at text, constraint status_entry_key primary key (list_id, list_index)
);
insert into status_entries select list_id, list_index, record_id, revoked_at from status_entry;
drop table status_entry;
alter table status_entries rename to status_entry;
create index status_entry_record on status_entry (record_id)
`),

  /** The P-256 keys of issuers, with their certificates. */
  '005-issuer-certificate': script(`
create table issuer_certificate (
  sequence integer primary key, id text not null unique, public_key text not null, sealed text not null,
  request text, chain text, subject text not null, names text not null, not_after text,
  is_development integer not null, created_at text not null, updated_at text not null
);
create index issuer_certificate_end on issuer_certificate (not_after) where not_after is not null
`),

  /** The sessions of OpenID4VP requests. */
  '006-openid4vp': script(`
create table presentation_session (
  record_id text primary key references record (id) on delete cascade, token_digest text not null unique,
  code_digest text unique, sealed text
)
`),

  /** The trust anchors of a wallet. */
  '007-trust-anchor': script(`
create table trust_anchor (
  sequence integer primary key, id text not null unique, type text not null, value text not null,
  digest text not null unique, name text, subject text, key_id text, not_after text, created_at text not null
);
create index trust_anchor_type on trust_anchor (type)
`),

  /**
   * Status lists that are VDR entries on the ledger. `media` is empty for a list that is served by HTTP in
   * all forms.
   */
  '008-ledger-list': script(`
alter table status_list add column media text not null default '';
alter table status_list add column written_revision integer;
alter table status_list add column operation_id text;
alter table status_list add column submitted_at text
`),

  /** DID requests and challenges that wallets of OpenID4VP can answer too, and challenges for one DID. */
  '009-session-openid4vp': script(`
alter table enterprise_session add column expected_did text;
alter table enterprise_session add column answered_by text;
alter table enterprise_session add column openid4vp text
`),

  /** Requests to webhooks with several events. */
  '010-webhook-batch': script(`
alter table webhook add column batch integer;
alter table webhook add column retry_to integer
`),

  /** Names of DIDs. */
  '011-did-label': script(`
alter table did add column label text
`),

  /** Certificates of ISO mdoc with their authorities, and trust anchors for document types. */
  '012-mdoc-certificate': script(`
alter table issuer_certificate add column profile text;
alter table issuer_certificate add column authority_id text;
alter table issuer_certificate add column revoked_at text;
alter table trust_anchor add column doc_types text;
create table issuer_authority (
  sequence integer primary key, id text not null unique, profile text not null, country text, province text,
  curve text not null, certificate text not null, sealed text not null, revoked text not null,
  created_at text not null
)
`),

  /** Webhooks that get events of some types only. */
  '013-webhook-types': script(`
alter table webhook add column types text
`),

  /**
   * Replaces the sessions of OpenID4VCI issuance by grants, which may be for several records, and by their
   * access tokens. Several records of one role may have the same thread, each at its own place.
   */
  '014-issuance-grant': script(`
alter table record add column place integer not null default 0;
drop index record_thread;
create unique index record_thread on record (protocol, thid, role, place);

create table issuance_grant (
  id text primary key, issuer_id text not null, records text not null, authorization_server text,
  state_digest text unique, code_digest text unique, authorized text, sealed text, guesses integer not null,
  identity text
);
create table issuance_token (
  digest text primary key, grant_id text not null references issuance_grant (id) on delete cascade,
  records text not null, jkt text, expires_at text not null
);
create index issuance_token_grant on issuance_token (grant_id);

insert into issuance_grant
select r.thid, s.issuer_id, json_array(s.record_id), s.authorization_server, s.state_digest, s.code_digest,
  json_set(s.authorized, '$.recordIds', json_array(s.record_id)), s.sealed, s.guesses, null
from issuance_session s join record r on r.id = s.record_id;
insert into issuance_token
select s.token_digest, r.thid, json_array(s.record_id), s.token_jkt, s.token_expires_at
from issuance_session s join record r on r.id = s.record_id
where s.token_digest is not null and s.token_expires_at is not null;
drop table issuance_session
`),

  /** Refresh tokens of grants, and access tokens that were refreshed. */
  '015-refresh-token': script(`
alter table issuance_grant add column refresh_digest text;
alter table issuance_grant add column replaced_digest text;
alter table issuance_grant add column renewal text;
create unique index issuance_grant_refresh on issuance_grant (refresh_digest) where refresh_digest is not null;
create unique index issuance_grant_replaced on issuance_grant (replaced_digest) where replaced_digest is not null;
alter table issuance_token add column is_refreshed integer not null default 0
`),

  /** Messages to the person of an offer, and the webhooks that send them. */
  '016-delivery': script(`
alter table webhook add column deliver integer not null default 0;
create table offer_delivery (
  id text primary key, grant_id text not null references issuance_grant (id) on delete cascade,
  link_digest text unique, sealed text
);
create index offer_delivery_grant on offer_delivery (grant_id)
`),

  /** The refresh tokens that OpenID4VCI issuers have given to this wallet. */
  '017-renewal-grant': script(`
create table renewal_grant (thid text primary key, sealed text not null)
`),

  /**
   * Access tokens that are good at the deferred endpoint alone after a short time. Those of earlier releases
   * were good at every endpoint for as long, and have ten minutes left there.
   */
  '018-token-ends': script(`
alter table issuance_token add column deferred_until text;
update issuance_token set deferred_until = expires_at, expires_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+10 minutes')
where expires_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+10 minutes')
`),

  /** What a person has presented before a grant. */
  '019-presentation': script(`
alter table issuance_grant add column presented text
`),

  /** When copies of renewed credentials are to be revoked. */
  '020-copies': script(`
alter table status_entry add column revoke_at text
`),
}
