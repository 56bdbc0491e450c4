/**
 * Adds the wallet providers that OpenID4VCI issuers trust, and the key attestations that configurations
 * require. Frozen.
 */
import { sql, type Kysely } from 'kysely'

const script = `
alter table credential_issuer add column wallet_providers text;
alter table credential_configuration add column key_attestation text
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
