/** Tables of the schema registry (service §2.1): one row per published version, and its tags beside it. */
import type { Kysely } from 'kysely'

export interface CredentialSchemaTables {
  /** Rows are written once and never changed: a new version is a new row with the same `id`. */
  credential_schema: {
    /** UUID of version 3, made from author, id and version. */
    guid: string
    /** UUIDv7 of the row: sorting by it is sorting by creation. */
    position: string
    id: string
    wallet_id: string
    /** A DID, in the form the author sent it. */
    author: string
    name: string
    /** SemVer. */
    version: string
    /** Empty when the author gave none. */
    description: string
    type: string
    /** JSON. */
    schema: string
    /** JSON: the tags in the order given, for reading back. */
    tags: string
    /** JSON, when the author has signed. */
    proof: string | null
    /** `http` or `did`. */
    resolution_method: string
    /** Instant, ISO 8601. */
    authored: string
  }

  /** The same tags once more, for searching: JSON operators differ between databases. */
  credential_schema_tag: { guid: string; tag: string }
}

/** Makes the registry's tables and indexes; a step of the agent's first migration. */
export async function createCredentialSchema(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('credential_schema')
    .addColumn('guid', 'text', (column) => column.primaryKey())
    .addColumn('position', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('wallet_id', 'text', (column) => column.notNull())
    .addColumn('author', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('schema', 'text', (column) => column.notNull())
    .addColumn('tags', 'text', (column) => column.notNull())
    .addColumn('proof', 'text')
    .addColumn('resolution_method', 'text', (column) => column.notNull())
    .addColumn('authored', 'text', (column) => column.notNull())
    .execute()
  // Without the author: an id has one author, whose long-form DID may be longer than PostgreSQL lets an index entry be.
  await db.schema
    .createIndex('credential_schema_version')
    .on('credential_schema')
    .columns(['wallet_id', 'id', 'version'])
    .unique()
    .execute()
  await db.schema.createIndex('credential_schema_position').on('credential_schema').columns(['wallet_id', 'position']).execute()

  await db.schema
    .createTable('credential_schema_tag')
    .addColumn('guid', 'text', (column) => column.notNull().references('credential_schema.guid'))
    .addColumn('tag', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('credential_schema_tag_pk', ['guid', 'tag'])
    .execute()
}
