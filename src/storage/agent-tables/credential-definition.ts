/** The table of the registry of credential definitions (api.md 4.11). */
import { sql, type Kysely } from 'kysely'

export interface CredentialDefinitionTables {
  /** Once there is a definition, its row never changes. The private key is in the file of the wallet. */
  credential_definition: {
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
    tag: string
    /** The URL of the AnonCreds schema. */
    schema_id: string
    /** JSON: the names of the schema's attributes, in their order. */
    attributes: string
    /** 0 or 1; nothing is done with it. */
    support_revocation: number
    /** `http` or `did`. */
    resolution_method: string
    /** JSON; null while its key is being generated. */
    definition: string | null
    /** JSON; null likewise. */
    key_correctness_proof: string | null
    /** Instant, ISO 8601. */
    authored: string
  }
}

/** Makes the table and its indexes; a step of the agent's first migration. */
export async function createCredentialDefinition(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('credential_definition')
    .addColumn('guid', 'text', (column) => column.primaryKey())
    .addColumn('position', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('wallet_id', 'text', (column) => column.notNull())
    .addColumn('author', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('tag', 'text', (column) => column.notNull())
    .addColumn('schema_id', 'text', (column) => column.notNull())
    .addColumn('attributes', 'text', (column) => column.notNull())
    .addColumn('support_revocation', 'integer', (column) => column.notNull())
    .addColumn('resolution_method', 'text', (column) => column.notNull())
    .addColumn('definition', 'text')
    .addColumn('key_correctness_proof', 'text')
    .addColumn('authored', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('credential_definition_version')
    .on('credential_definition')
    .columns(['wallet_id', 'id', 'version'])
    .unique()
    .execute()
  await db.schema.createIndex('credential_definition_position').on('credential_definition').columns(['wallet_id', 'position']).execute()
  // Of those whose keys are yet to be generated.
  await db.schema
    .createIndex('credential_definition_owed')
    .on('credential_definition')
    .column('position')
    .where(sql.ref('definition'), 'is', null)
    .execute()
}
