/** Adds the sessions of OpenID4VCI issuance, and the nonces that key proofs have used. Frozen. */
import { sql, type Kysely } from 'kysely'

const script = `
create table issuance_session (
  record_id text primary key references record (id) on delete cascade, issuer_id text not null,
  configuration_id text not null, offer_digest text unique, code_digest text not null unique,
  sealed text, guesses integer not null, token_digest text unique, token_expires_at text
);

create table issuance_nonce (digest text primary key, expires_at text not null);
create index issuance_nonce_expiry on issuance_nonce (expires_at)
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
