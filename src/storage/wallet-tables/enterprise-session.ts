/** The table of the enterprise suite (service §3.5). */
import type { Kysely } from 'kysely'

export interface EnterpriseTables {
  /** DID requests and authentication challenges, each with a public link that takes one answer. */
  enterprise_session: {
    sequence: number
    id: string
    product: 'onboard' | 'authenticate'
    /** The last part of the link. */
    submission_id: string
    /** Who asks, in words for the other side. */
    from_label: string | null
    /** What is to be signed; null for a DID request. */
    nonce: string | null
    state: 'pending' | 'success' | 'error'
    did: string | null
    /** When the link ends, as it is shown. */
    expire_at: string
    /** When the session began and when its link ends, by `steadyNow`, which is what counts. */
    begins: string
    ends: string
    /** When the one answer came that the link takes. */
    submitted_at: string | null
    /** Until when, by `steadyNow`, a success may be exchanged for a token; null when there is none to be had. */
    token_until: string | null
    created_at: string
    updated_at: string
  }
}

/** Makes the table and its index; a step of the wallet's first migration. */
export async function createEnterpriseTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('enterprise_session')
    .addColumn('sequence', 'integer', (column) => column.primaryKey())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('product', 'text', (column) => column.notNull())
    .addColumn('submission_id', 'text', (column) => column.notNull().unique())
    .addColumn('from_label', 'text')
    .addColumn('nonce', 'text')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('did', 'text')
    .addColumn('expire_at', 'text', (column) => column.notNull())
    .addColumn('begins', 'text', (column) => column.notNull())
    .addColumn('ends', 'text', (column) => column.notNull())
    .addColumn('submitted_at', 'text')
    .addColumn('token_until', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('enterprise_session_page')
    .on('enterprise_session')
    .columns(['product', 'sequence'])
    .execute()
}
