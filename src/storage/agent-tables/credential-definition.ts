/** The table of the registry of credential definitions (api.md 4.11). */
import { sql, type Kysely } from 'kysely'
import { createRegistered, type Registered } from './registered.ts'

export interface CredentialDefinitionTables {
  /** Once there is a definition, its row never changes. The private key is in the file of the wallet. */
  credential_definition: Registered & {
    tag: string
    /** The URL of the AnonCreds schema. */
    schema_id: string
    /** JSON: the names of the schema's attributes, in their order. */
    attributes: string
    /** 0 or 1; nothing is done with it. */
    support_revocation: number
    /** JSON; null while its key is being generated. */
    definition: string | null
    /** JSON; null likewise. */
    key_correctness_proof: string | null
  }
}

/** Makes the table and its indexes; a step of the agent's first migration. */
export async function createCredentialDefinition(db: Kysely<unknown>): Promise<void> {
  await createRegistered(db, 'credential_definition', (table) =>
    table
      .addColumn('tag', 'text', (column) => column.notNull())
      .addColumn('schema_id', 'text', (column) => column.notNull())
      .addColumn('attributes', 'text', (column) => column.notNull())
      .addColumn('support_revocation', 'integer', (column) => column.notNull())
      .addColumn('definition', 'text')
      .addColumn('key_correctness_proof', 'text'),
  )
  // Of those whose keys are yet to be generated.
  await db.schema
    .createIndex('credential_definition_owed')
    .on('credential_definition')
    .column('position')
    .where(sql.ref('definition'), 'is', null)
    .execute()
}
