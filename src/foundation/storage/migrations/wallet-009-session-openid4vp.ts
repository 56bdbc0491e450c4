/** DID requests and challenges that wallets of OpenID4VP can answer too, and challenges for one DID. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['expected_did text', 'answered_by text', 'openid4vp text'])
    await sql.raw(`alter table enterprise_session add column ${column}`).execute(db)
}
