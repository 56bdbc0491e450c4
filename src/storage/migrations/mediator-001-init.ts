/** The mediator's first tables. */
import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('identity')
    .addColumn('did', 'text', (column) => column.primaryKey())
    .addColumn('url', 'text', (column) => column.notNull().unique())
    .addColumn('keys', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('account')
    .addColumn('did', 'text', (column) => column.primaryKey())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('seen_at', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('recipient')
    .addColumn('did', 'text', (column) => column.primaryKey())
    .addColumn('account', 'text', (column) => column.notNull().references('account.did').onDelete('cascade'))
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('recipient_account')
    .on('recipient')
    .columns(['account', 'created_at', 'did'])
    .execute()

  await db.schema
    .createTable('message')
    .addColumn('sequence', 'integer', (column) => column.primaryKey())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('recipient', 'text', (column) => column.notNull())
    .addColumn('account', 'text', (column) => column.notNull().references('account.did'))
    .addColumn('envelope', 'text', (column) => column.notNull())
    .addColumn('bytes', 'integer', (column) => column.notNull())
    .addColumn('received_at', 'text', (column) => column.notNull())
    .execute()
  // Holds all that counting asks for, so that no envelope is read for it.
  await db.schema
    .createIndex('message_queue')
    .on('message')
    .columns(['account', 'recipient', 'received_at', 'bytes'])
    .execute()
  await db.schema
    .createIndex('message_id')
    .on('message')
    .columns(['account', 'id', 'recipient'])
    .unique()
    .execute()
  await db.schema.createIndex('message_age').on('message').columns(['received_at']).execute()

  await db.schema
    .createTable('seen')
    .addColumn('sequence', 'integer', (column) => column.primaryKey())
    .addColumn('digest', 'text', (column) => column.notNull().unique())
    .execute()
}
