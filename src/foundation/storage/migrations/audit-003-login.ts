/** Names the subject of a bearer token whose act it is. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['entry', 'begun'])
    for (const column of ['issuer', 'login'])
      await sql`alter table ${sql.table(table)} add column ${sql.ref(column)} text`.execute(db)
}
