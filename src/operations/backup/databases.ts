/** The databases of a backup: their tables, and how their files are created and migrated. */
import { Kysely } from 'kysely'
import { openAgentDb, openAuditDb, openMediatorDb, openWalletDb } from '../../foundation/storage/database.ts'
import { agentMigrations } from '../../foundation/storage/migrations/agent.ts'
import { auditMigrations } from '../../foundation/storage/migrations/audit.ts'
import { mediatorMigrations } from '../../foundation/storage/migrations/mediator.ts'
import { walletMigrations } from '../../foundation/storage/migrations/wallet.ts'
import { createDialect } from '../../foundation/storage/dialect.ts'
import { migrate, type Migrations } from '../../foundation/storage/migrate.ts'
import type { CopiedTable } from '../../foundation/storage/postgres/copy-rows.ts'
import {
  copiedAgentTables,
  copiedAuditTables,
  copiedLedgerTables,
  copiedMediatorTables,
} from '../../foundation/storage/postgres/shared-rows.ts'
import { copiedWalletTables } from '../../foundation/storage/postgres/wallet-rows.ts'
import { openSqlite } from '../../foundation/storage/sqlite.ts'
import { createLedgerTables, ledgerVersion, openLedgerFile } from '../../did/ledger/operation-table.ts'

export type BackedUpDatabase = {
  readonly tables: readonly CopiedTable[]
  /** The schema version that this release writes. */
  readonly schema: string
  readonly createTables: (db: Kysely<any>) => Promise<void>
  /** Opens a file, and migrates it. @throws {NewerFileError} */
  readonly open: (path: string) => Promise<Kysely<any>>
}

const migrated = (migrations: Migrations) => ({
  schema: Object.keys(migrations).at(-1)!,
  createTables: (db: Kysely<any>) => migrate(db, migrations),
})

/** The databases that all tenants share, by the names of their files. */
export const sharedDatabases: Readonly<Record<string, BackedUpDatabase>> = {
  'agent.db': { tables: copiedAgentTables, open: openAgentDb, ...migrated(agentMigrations) },
  'audit.db': { tables: copiedAuditTables, open: openAuditDb, ...migrated(auditMigrations) },
  'mediator.db': { tables: copiedMediatorTables, open: openMediatorDb, ...migrated(mediatorMigrations) },
  'vdr.db': {
    tables: copiedLedgerTables,
    open: openLedgerFile,
    schema: String(ledgerVersion),
    createTables: createLedgerTables,
  },
}

export const walletDatabase: BackedUpDatabase = {
  tables: copiedWalletTables,
  open: openWalletDb,
  ...migrated(walletMigrations),
}

/** Opens a file for reading, and does not migrate it. */
export function openToRead(path: string): Kysely<any> {
  return new Kysely<any>({ dialect: createDialect(openSqlite(path, { readonly: true })) })
}
