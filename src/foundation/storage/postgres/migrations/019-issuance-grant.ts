/**
 * Replaces the sessions of OpenID4VCI issuance by grants and access tokens, as the migration of that name
 * does in SQLite. Frozen.
 */
import { sql, type Kysely } from 'kysely'
import { collate, withWallet } from './001-init.ts'

const tables = `
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
`

/** The rows of all wallets are copied at once, which their policies forbid. */
const guarded = ['record', 'issuance_session', 'issuance_grant', 'issuance_token']
const kept = guarded.filter((table) => table !== 'issuance_session')

const rows = [
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
]

export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = tables.split(';').flatMap((statement) => withWallet(statement.trim()))
  for (const statement of statements) await sql.raw(collate(statement)).execute(db)
  for (const statement of rows) await sql.raw(statement).execute(db)
}
