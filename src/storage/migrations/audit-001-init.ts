/** The audit log's first tables. */
import type { CreateTableBuilder, Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await addAct(
    db.schema.createTable('entry').addColumn('sequence', 'integer', (column) => column.primaryKey()),
  )
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('status', 'integer')
    .addColumn('problem_type', 'text')
    .addColumn('count', 'integer')
    .addColumn('previous', 'text', (column) => column.notNull())
    .addColumn('digest', 'text', (column) => column.notNull())
    .execute()
  await addAct(db.schema.createTable('begun').addColumn('id', 'text', (column) => column.primaryKey()))
    .addColumn('mac', 'text', (column) => column.notNull())
    .execute()
}

function addAct<Columns extends string>(table: CreateTableBuilder<string, Columns>) {
  return table
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('actor', 'text', (column) => column.notNull())
    .addColumn('entity_id', 'text')
    .addColumn('key_id', 'text')
    .addColumn('address', 'text')
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('wallet_id', 'text')
    .addColumn('subject', 'text')
    .addColumn('request_id', 'text')
}
