/** The first tables of wallets in PostgreSQL. Frozen. */

/**
 * The tables of wallets: columns and constraints after `wallet_id`, which is the first column of each key and
 * index.
 */
export const walletTables = `
create table setting (name text not null, value text not null, primary key (name));

create table record (
  id text not null, protocol text not null, role text not null, state text not null, thid text not null,
  data text not null, created_at text not null, updated_at text, waits_since text, short_id text,
  primary key (id)
);
create index record_waits on record (waits_since) where waits_since is not null;
create unique index record_thread on record (protocol, thid, role);
create index record_page on record (protocol, created_at, id);
create unique index record_short_id on record (short_id) where short_id is not null;

create table job (
  sequence bigint not null, id text not null, queue text not null, kind text not null, body text not null,
  attempts bigint not null, due_at text not null, put_off_at text, reason text, created_at text not null,
  event_sequence bigint not null, primary key (sequence), unique (id)
);
create index job_queue on job (queue, sequence);

create table inbox (rowid bigint not null, id text not null, received_at text not null, primary key (id));
create index inbox_rowid on inbox (rowid);

create table event (
  sequence bigint not null, id text not null, type text not null, subject text not null, data text not null,
  ts text not null, primary key (sequence), unique (id)
);
create index event_subject on event (subject);
create index event_type on event (type);

create table webhook (
  id text not null, url text not null, headers text not null, secrets text, created_at text not null,
  cursor bigint not null, attempts bigint not null, due_at text not null, primary key (id)
);

create table dead_letter (
  webhook_id text not null, event_sequence bigint not null, attempt bigint not null,
  primary key (webhook_id, event_sequence),
  foreign key (webhook_id) references webhook (id) on delete cascade,
  foreign key (event_sequence) references event (sequence) on delete cascade
);
create index dead_letter_event on dead_letter (event_sequence);

create table redelivery (
  webhook_id text not null, event_sequence bigint not null, attempts bigint not null, due_at text not null,
  primary key (webhook_id, event_sequence),
  foreign key (webhook_id) references webhook (id) on delete cascade,
  foreign key (event_sequence) references event (sequence) on delete cascade
);
create index redelivery_event on redelivery (event_sequence);

create table delivery_attempt (
  sequence bigint not null, webhook_id text not null, event_sequence bigint, event_id text not null,
  event_type text not null, kind text not null, attempted_at text not null, duration_ms bigint not null,
  status bigint, error text, primary key (sequence),
  foreign key (webhook_id) references webhook (id) on delete cascade,
  foreign key (event_sequence) references event (sequence) on delete cascade
);
create index delivery_attempt_webhook on delivery_attempt (webhook_id, sequence);
create index delivery_attempt_event on delivery_attempt (event_sequence, webhook_id);
create index delivery_attempt_test on delivery_attempt (event_id, webhook_id) where kind = 'test';

create table peer_did (
  did text not null, keys text not null, record_id text not null, created_at text not null, primary key (did)
);

create table did (
  did text not null, method text not null, long_form text, did_index bigint not null, status text not null,
  state text not null, pending_operation text, failure text, created_at text not null, updated_at text,
  primary key (did)
);
create index did_page on did (did_index, did);

create table did_operation (
  id text not null, did text not null, kind text not null, signed_operation text not null,
  submitted_at text, created_at text not null, primary key (id), foreign key (did) references did (did)
);
create index did_operation_of on did_operation (did, kind);

create table did_key (
  did text not null, key_id text not null, operation_id text not null, usage bigint not null,
  curve text not null, key_index bigint, sealed text, primary key (did, key_id, operation_id),
  foreign key (did) references did (did)
);

create table message (
  sequence bigint not null, id text not null, connection_id text not null, direction text not null,
  content text not null, lang text, sent_at text, failure text, created_at text not null,
  primary key (sequence), unique (id)
);
create index message_connection on message (connection_id, sequence);

create table ping (
  sequence bigint not null, id text not null, thid text not null, connection_id text, my_did text not null,
  their_did text not null, sent_at text not null, answered_at text, failure text,
  primary key (sequence), unique (id), unique (thid)
);

create table enterprise_session (
  sequence bigint not null, id text not null, product text not null, submission_id text not null,
  short_id text, from_label text, nonce text, state text not null, did text, expire_at text not null,
  begins text not null, ends text not null, submitted_at text, token_until text, created_at text not null,
  updated_at text not null, primary key (sequence), unique (id), unique (submission_id)
);
create index enterprise_session_page on enterprise_session (product, sequence);
create unique index enterprise_session_short_id on enterprise_session (short_id) where short_id is not null;

create table message_log (
  sequence bigint not null, thread text not null, id text not null, direction text not null,
  outcome text not null, type text not null, from_did text not null, to_did text not null, at text not null,
  attempts bigint, duration_ms bigint, failure text, event_sequence bigint not null, primary key (sequence)
);
create index message_log_thread on message_log (thread);

create table definition_key (guid text not null, sealed text not null, created_at text not null, primary key (guid));

create table status_list (
  id text not null, did text not null, url text not null, used bigint not null, revision bigint not null,
  created_at text not null, primary key (id)
);
create index status_list_of on status_list (did, used);

create table status_entry (
  list_id text not null, list_index bigint not null, record_id text not null, revoked_at text,
  primary key (list_id, list_index), unique (record_id), foreign key (list_id) references status_list (id)
);

create table credential (
  id text not null, format text not null, credential text not null, issuer text not null, subject text,
  created_at text not null, primary key (id)
);

create table proof_nonce (nonce text not null, primary key (nonce));

create table verification_policy (
  sequence bigint not null, id text not null, nonce bigint not null, name text not null,
  description text not null, constraints text not null, created_at text not null, updated_at text not null,
  primary key (sequence), unique (id)
)
`
