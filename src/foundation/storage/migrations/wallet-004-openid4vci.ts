/**
 * Adds the sessions of OpenID4VCI issuance, and the nonces that key proofs have used. A record may have
 * several status entries, for the credentials of a batch. Frozen.
 */
import { sql, type Kysely } from 'kysely'

const script = `
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
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
