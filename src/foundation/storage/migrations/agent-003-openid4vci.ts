/** Adds the OpenID4VCI issuers and their credential configurations. Frozen. */
import { sql, type Kysely } from 'kysely'

const script = `
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
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
