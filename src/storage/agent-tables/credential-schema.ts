/** Tables of the schema registry (service §2.1): one row per published version, and its tags beside it. */
import type { Kysely } from 'kysely'
import { createRegistered, type Registered } from './registered.ts'

export interface CredentialSchemaTables {
  /** Rows are written once and never changed: a new version is a new row with the same `id`. */
  credential_schema: Registered & {
    type: string
    /** JSON. */
    schema: string
    /** JSON: the tags in the order given, for reading back. */
    tags: string
    /** JSON, when the author has signed. */
    proof: string | null
  }

  /** The same tags once more, for searching: JSON operators differ between databases. */
  credential_schema_tag: { guid: string; tag: string }
}

/** Makes the registry's tables and indexes; a step of the agent's first migration. */
export async function createCredentialSchema(db: Kysely<unknown>): Promise<void> {
  await createRegistered(db, 'credential_schema', (table) =>
    table
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('schema', 'text', (column) => column.notNull())
      .addColumn('tags', 'text', (column) => column.notNull())
      .addColumn('proof', 'text'),
  )
  await db.schema
    .createTable('credential_schema_tag')
    .addColumn('guid', 'text', (column) => column.notNull().references('credential_schema.guid'))
    .addColumn('tag', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('credential_schema_tag_pk', ['guid', 'tag'])
    .execute()
}
