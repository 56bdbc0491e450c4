/** Adds the tables of OpenID4VCI issuers, as the migrations of that name do in SQLite. Frozen. */
import { sql, type Kysely } from 'kysely'
import { collate, withWallet } from './001-init.ts'

const shared = `
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
`

const ofWallets = `
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
`

export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    ...shared.split(';'),
    ...ofWallets.split(';').flatMap((statement) => withWallet(statement.trim())),
  ]
  for (const statement of statements) await sql.raw(collate(statement)).execute(db)
}
