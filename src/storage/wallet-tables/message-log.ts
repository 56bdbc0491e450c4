/** The table of the log of DIDComm messages. */
import type { Kysely } from 'kysely'

export interface MessageLogTables {
  /** DIDComm messages that came, and those that went or were given up; never what they say. Kept as long as events are. */
  message_log: {
    sequence: number
    /** The thread that it is about. */
    thread: string
    /** The message's own id. */
    id: string
    direction: 'sent' | 'received'
    outcome: 'taken' | 'refused' | 'given up'
    type: string
    /** The beginnings of the two DIDs, which tell one from another. */
    from_did: string
    to_did: string
    /** When it arrived, or when the last attempt at sending it began. */
    at: string
    /** How often it was sent. Null for one that was received. */
    attempts: number | null
    /** How long the other side took for the last attempt, when it answered. */
    duration_ms: number | null
    /** Why it was refused or given up; of one that was taken, why the attempt before the last one failed. */
    failure: string | null
    /** The `sequence` of the last event before it was promised, or before it was received: its place among the events. */
    event_sequence: number
  }
}

/** Makes the table and its index; a step of the wallet's first migration. */
export async function createMessageLog(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('message_log')
    .addColumn('sequence', 'integer', (column) => column.primaryKey())
    .addColumn('thread', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('direction', 'text', (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('from_did', 'text', (column) => column.notNull())
    .addColumn('to_did', 'text', (column) => column.notNull())
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer')
    .addColumn('duration_ms', 'integer')
    .addColumn('failure', 'text')
    .addColumn('event_sequence', 'integer', (column) => column.notNull())
    .execute()
  // Rows with the same text are in the order of their sequence.
  await db.schema.createIndex('message_log_thread').on('message_log').column('thread').execute()
}
