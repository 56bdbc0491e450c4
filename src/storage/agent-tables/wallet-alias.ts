/** The table of tokens by which imported wallets are found. */
import type { Kysely } from 'kysely'

export interface WalletAliasTables {
  /**
   * Tokens in addresses that another agent gave out for a wallet that is here now: its mailboxes, status lists and links. Those of this
   * agent's own making open by themselves.
   */
  wallet_alias: {
    token: string
    kind: 'mailbox' | 'status-list' | 'onboard' | 'authenticate'
    wallet_id: string
  }
}

/** Makes the table; a step of the agent's first migration. */
export async function createWalletAlias(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('wallet_alias')
    .addColumn('token', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('wallet_id', 'text', (column) => column.notNull().references('wallet.id'))
    .addPrimaryKeyConstraint('wallet_alias_pk', ['token', 'kind'])
    .execute()
  await db.schema.createIndex('wallet_alias_of').on('wallet_alias').column('wallet_id').execute()
}
