/** The agent's first tables. */
import type { Kysely } from 'kysely'
import { createCredentialDefinition } from '../agent-tables/credential-definition.ts'
import { createCredentialSchema } from '../agent-tables/credential-schema.ts'
import { createWalletAlias } from '../agent-tables/wallet-alias.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('setting')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('wallet')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('wrapped_key', 'text', (column) => column.notNull())
    .addColumn('seed_digest', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addColumn('moved_at', 'text')
    .addColumn('arrived', 'text')
    .execute()
  await db.schema.createIndex('wallet_page').on('wallet').columns(['created_at', 'id']).execute()

  await db.schema
    .createTable('entity')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('wallet_id', 'text', (column) => column.notNull().references('wallet.id'))
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('entity_page').on('entity').columns(['created_at', 'id']).execute()

  await db.schema
    .createTable('api_key')
    .addColumn('digest', 'text', (column) => column.primaryKey())
    // No reference to the entity: the digest of a deleted tenant's key stays, so that the key is never given to another.
    .addColumn('entity_id', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text')
    .addColumn('scopes', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('last_used_at', 'text')
    .addColumn('expires_at', 'text')
    .addColumn('revoked_at', 'text')
    .execute()
  await db.schema
    .createIndex('api_key_page')
    .on('api_key')
    .columns(['entity_id', 'created_at', 'id'])
    .execute()

  await db.schema
    .createTable('web_did')
    .addColumn('did', 'text', (column) => column.primaryKey())
    .addColumn('wallet_id', 'text', (column) => column.notNull().references('wallet.id'))
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('presentation_definition')
    .addColumn('sequence', 'integer', (column) => column.primaryKey())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('wallet_id', 'text', (column) => column.notNull().references('wallet.id'))
    .addColumn('definition', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('presentation_definition_page')
    .on('presentation_definition')
    .columns(['wallet_id', 'sequence'])
    .execute()

  await createCredentialSchema(db)
  await createWalletAlias(db)
  await createCredentialDefinition(db)
}
