/** A wallet's first tables. */
import { sql, type Kysely } from 'kysely'
import { createDefinitionKey } from '../wallet-tables/definition-key.ts'
import { createEnterpriseTables } from '../wallet-tables/enterprise-session.ts'
import { createMessageLog } from '../wallet-tables/message-log.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('setting')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('record')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('protocol', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('thid', 'text', (column) => column.notNull())
    .addColumn('data', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text')
    .addColumn('waits_since', 'text')
    .execute()
  await db.schema
    .createIndex('record_waits')
    .on('record')
    .column('waits_since')
    .where('waits_since', 'is not', null)
    .execute()
  await db.schema
    .createIndex('record_thread')
    .on('record')
    .columns(['protocol', 'thid', 'role'])
    .unique()
    .execute()
  await db.schema.createIndex('record_page').on('record').columns(['protocol', 'created_at', 'id']).execute()

  await db.schema
    .createTable('outbox')
    .addColumn('sequence', 'integer', (column) => column.primaryKey())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('lane', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('due_at', 'text', (column) => column.notNull())
    .addColumn('put_off_at', 'text')
    .addColumn('reason', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('event_sequence', 'integer', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('outbox_lane').on('outbox').columns(['lane', 'sequence']).execute()

  await db.schema
    .createTable('inbox')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('received_at', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('event')
    .addColumn('sequence', 'integer', (column) => column.primaryKey())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('data', 'text', (column) => column.notNull())
    .addColumn('ts', 'text', (column) => column.notNull())
    .execute()
  // Rows with the same text are in the order of their sequence.
  await db.schema.createIndex('event_subject').on('event').column('subject').execute()
  await db.schema.createIndex('event_type').on('event').column('type').execute()

  await db.schema
    .createTable('webhook')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('headers', 'text', (column) => column.notNull())
    .addColumn('secrets', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('cursor', 'integer', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('due_at', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('dead_letter')
    .addColumn('webhook_id', 'text', (column) =>
      column.notNull().references('webhook.id').onDelete('cascade'),
    )
    .addColumn('event_sequence', 'integer', (column) =>
      column.notNull().references('event.sequence').onDelete('cascade'),
    )
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('dead_letter_key', ['webhook_id', 'event_sequence'])
    .execute()
  await db.schema.createIndex('dead_letter_event').on('dead_letter').column('event_sequence').execute()

  await db.schema
    .createTable('redelivery')
    .addColumn('webhook_id', 'text', (column) =>
      column.notNull().references('webhook.id').onDelete('cascade'),
    )
    .addColumn('event_sequence', 'integer', (column) =>
      column.notNull().references('event.sequence').onDelete('cascade'),
    )
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('due_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('redelivery_key', ['webhook_id', 'event_sequence'])
    .execute()
  await db.schema.createIndex('redelivery_event').on('redelivery').column('event_sequence').execute()

  await db.schema
    .createTable('delivery_attempt')
    .addColumn('sequence', 'integer', (column) => column.primaryKey())
    .addColumn('webhook_id', 'text', (column) =>
      column.notNull().references('webhook.id').onDelete('cascade'),
    )
    .addColumn('event_sequence', 'integer', (column) =>
      column.references('event.sequence').onDelete('cascade'),
    )
    .addColumn('event_id', 'text', (column) => column.notNull())
    .addColumn('event_type', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('attempted_at', 'text', (column) => column.notNull())
    .addColumn('duration_ms', 'integer', (column) => column.notNull())
    .addColumn('status', 'integer')
    .addColumn('error', 'text')
    .execute()
  await db.schema
    .createIndex('delivery_attempt_webhook')
    .on('delivery_attempt')
    .columns(['webhook_id', 'sequence'])
    .execute()
  await db.schema
    .createIndex('delivery_attempt_event')
    .on('delivery_attempt')
    .columns(['event_sequence', 'webhook_id'])
    .execute()
  // All others are found by the place of their event.
  await db.schema
    .createIndex('delivery_attempt_test')
    .on('delivery_attempt')
    .columns(['event_id', 'webhook_id'])
    .where(sql.ref('kind'), '=', sql.lit('test'))
    .execute()

  await db.schema
    .createTable('peer_did')
    .addColumn('did', 'text', (column) => column.primaryKey())
    .addColumn('keys', 'text', (column) => column.notNull())
    .addColumn('record_id', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('did')
    .addColumn('did', 'text', (column) => column.primaryKey())
    .addColumn('method', 'text', (column) => column.notNull())
    .addColumn('long_form', 'text')
    .addColumn('did_index', 'integer', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('pending_operation', 'text')
    .addColumn('failure', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text')
    .execute()
  await db.schema.createIndex('did_page').on('did').columns(['did_index', 'did']).execute()

  await db.schema
    .createTable('did_operation')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('did', 'text', (column) => column.notNull().references('did.did'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('signed_operation', 'text', (column) => column.notNull())
    .addColumn('submitted_at', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('did_operation_of').on('did_operation').columns(['did', 'kind']).execute()

  await db.schema
    .createTable('did_key')
    .addColumn('did', 'text', (column) => column.notNull().references('did.did'))
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('operation_id', 'text', (column) => column.notNull())
    .addColumn('usage', 'integer', (column) => column.notNull())
    .addColumn('curve', 'text', (column) => column.notNull())
    .addColumn('key_index', 'integer')
    .addColumn('sealed', 'text')
    .addPrimaryKeyConstraint('did_key_key', ['did', 'key_id', 'operation_id'])
    .execute()

  await db.schema
    .createTable('message')
    .addColumn('sequence', 'integer', (column) => column.primaryKey())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('connection_id', 'text', (column) => column.notNull())
    .addColumn('direction', 'text', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .addColumn('lang', 'text')
    .addColumn('sent_at', 'text')
    .addColumn('failure', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('message_connection')
    .on('message')
    .columns(['connection_id', 'sequence'])
    .execute()

  await db.schema
    .createTable('ping')
    .addColumn('sequence', 'integer', (column) => column.primaryKey())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('thid', 'text', (column) => column.notNull().unique())
    .addColumn('connection_id', 'text')
    .addColumn('my_did', 'text', (column) => column.notNull())
    .addColumn('their_did', 'text', (column) => column.notNull())
    .addColumn('sent_at', 'text', (column) => column.notNull())
    .addColumn('answered_at', 'text')
    .addColumn('failure', 'text')
    .execute()

  await createEnterpriseTables(db)
  await createMessageLog(db)
  await createDefinitionKey(db)

  await db.schema
    .createTable('status_list')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('did', 'text', (column) => column.notNull())
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('used', 'integer', (column) => column.notNull())
    .addColumn('revision', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('status_list_of').on('status_list').columns(['did', 'used']).execute()

  await db.schema
    .createTable('status_entry')
    .addColumn('list_id', 'text', (column) => column.notNull().references('status_list.id'))
    .addColumn('list_index', 'integer', (column) => column.notNull())
    .addColumn('record_id', 'text', (column) => column.notNull().unique())
    .addColumn('revoked_at', 'text')
    .addPrimaryKeyConstraint('status_entry_key', ['list_id', 'list_index'])
    .execute()

  await db.schema
    .createTable('credential')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('format', 'text', (column) => column.notNull())
    .addColumn('credential', 'text', (column) => column.notNull())
    .addColumn('issuer', 'text', (column) => column.notNull())
    .addColumn('subject', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('proof_nonce')
    .addColumn('nonce', 'text', (column) => column.primaryKey())
    .execute()

  await db.schema
    .createTable('verification_policy')
    .addColumn('sequence', 'integer', (column) => column.primaryKey())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('nonce', 'integer', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('constraints', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute()
}
