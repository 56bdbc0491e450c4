/**
 * Replaces the sessions of OpenID4VCI issuance by grants, which may be for several records, and by their
 * access tokens. Several records of one role may have the same thread, each at its own place. Frozen.
 */
import { sql, type Kysely } from 'kysely'

const script = `
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
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
