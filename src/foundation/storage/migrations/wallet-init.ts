/** The first tables of a wallet, as release 0.1.0 created them. */
export const firstTables = `
create table setting (name text primary key, value text not null);

create table record (
  id text primary key, protocol text not null, role text not null, state text not null, thid text not null,
  data text not null, created_at text not null, updated_at text, waits_since text
);
create index record_waits on record (waits_since) where waits_since is not null;
create unique index record_thread on record (protocol, thid, role);
create index record_page on record (protocol, created_at, id);

create table outbox (
  sequence integer primary key, id text not null unique, lane text not null, kind text not null,
  body text not null, attempts integer not null, due_at text not null, put_off_at text, reason text,
  created_at text not null, event_sequence integer not null
);
create index outbox_lane on outbox (lane, sequence);

create table inbox (id text primary key, received_at text not null);

create table event (
  sequence integer primary key, id text not null unique, type text not null, subject text not null,
  data text not null, ts text not null
);
create index event_subject on event (subject);
create index event_type on event (type);

create table webhook (
  id text primary key, url text not null, headers text not null, secrets text, created_at text not null,
  cursor integer not null, attempts integer not null, due_at text not null
);

create table dead_letter (
  webhook_id text not null references webhook (id) on delete cascade,
  event_sequence integer not null references event (sequence) on delete cascade, attempt integer not null,
  constraint dead_letter_key primary key (webhook_id, event_sequence)
);
create index dead_letter_event on dead_letter (event_sequence);

create table redelivery (
  webhook_id text not null references webhook (id) on delete cascade,
  event_sequence integer not null references event (sequence) on delete cascade, attempts integer not null,
  due_at text not null, constraint redelivery_key primary key (webhook_id, event_sequence)
);
create index redelivery_event on redelivery (event_sequence);

create table delivery_attempt (
  sequence integer primary key, webhook_id text not null references webhook (id) on delete cascade,
  event_sequence integer references event (sequence) on delete cascade, event_id text not null,
  event_type text not null, kind text not null, attempted_at text not null, duration_ms integer not null,
  status integer, error text
);
create index delivery_attempt_webhook on delivery_attempt (webhook_id, sequence);
create index delivery_attempt_event on delivery_attempt (event_sequence, webhook_id);
create index delivery_attempt_test on delivery_attempt (event_id, webhook_id) where kind = 'test';

create table peer_did (
  did text primary key, keys text not null, record_id text not null, created_at text not null
);

create table did (
  did text primary key, method text not null, long_form text, did_index integer not null,
  status text not null, state text not null, pending_operation text, failure text, created_at text not null,
  updated_at text
);
create index did_page on did (did_index, did);

create table did_operation (
  id text primary key, did text not null references did (did), kind text not null,
  signed_operation text not null, submitted_at text, created_at text not null
);
create index did_operation_of on did_operation (did, kind);

create table did_key (
  did text not null references did (did), key_id text not null, operation_id text not null,
  usage integer not null, curve text not null, key_index integer, sealed text,
  constraint did_key_key primary key (did, key_id, operation_id)
);

create table message (
  sequence integer primary key, id text not null unique, connection_id text not null,
  direction text not null, content text not null, lang text, sent_at text, failure text,
  created_at text not null
);
create index message_connection on message (connection_id, sequence);

create table ping (
  sequence integer primary key, id text not null unique, thid text not null unique, connection_id text,
  my_did text not null, their_did text not null, sent_at text not null, answered_at text, failure text
);

create table enterprise_session (
  sequence integer primary key, id text not null unique, product text not null,
  submission_id text not null unique, from_label text, nonce text, state text not null, did text,
  expire_at text not null, begins text not null, ends text not null, submitted_at text, token_until text,
  created_at text not null, updated_at text not null
);
create index enterprise_session_page on enterprise_session (product, sequence);

create table message_log (
  sequence integer primary key, thread text not null, id text not null, direction text not null,
  outcome text not null, type text not null, from_did text not null, to_did text not null, at text not null,
  attempts integer, duration_ms integer, failure text, event_sequence integer not null
);
create index message_log_thread on message_log (thread);

create table definition_key (guid text primary key, sealed text not null, created_at text not null);

create table status_list (
  id text primary key, did text not null, url text not null, used integer not null,
  revision integer not null, created_at text not null
);
create index status_list_of on status_list (did, used);

create table status_entry (
  list_id text not null references status_list (id), list_index integer not null,
  record_id text not null unique, revoked_at text,
  constraint status_entry_key primary key (list_id, list_index)
);

create table credential (
  id text primary key, format text not null, credential text not null, issuer text not null, subject text,
  created_at text not null
);

create table proof_nonce (nonce text primary key);

create table verification_policy (
  sequence integer primary key, id text not null unique, nonce integer not null, name text not null,
  description text not null, constraints text not null, created_at text not null, updated_at text not null
)
`
