/** Names the process of an act that has begun: several processes may write to one audit log. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table begun add column process text not null default ''`.execute(db)
}
