/**
 * Adds the columns of DID requests and challenges over OpenID4VP, as the migration of that name does in
 * SQLite. Frozen.
 */
import { sql, type Kysely } from 'kysely'

const script = `
alter table enterprise_session add column expected_did text collate "C";
alter table enterprise_session add column answered_by text collate "C";
alter table enterprise_session add column openid4vp text collate "C"
`

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of script.split(';')) await sql.raw(statement).execute(db)
}
