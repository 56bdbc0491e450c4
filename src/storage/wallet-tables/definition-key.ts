/** The table of the private keys of credential definitions. */
import type { Kysely } from 'kysely'

export interface DefinitionKeyTables {
  /** `guid` is that of the definition in the agent's registry. */
  definition_key: {
    guid: string
    /** JSON, sealed: see `anoncreds/model.ts`. */
    sealed: string
    created_at: string
  }
}

/** Makes the table; a step of the wallet's first migration. */
export async function createDefinitionKey(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('definition_key')
    .addColumn('guid', 'text', (column) => column.primaryKey())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
}
