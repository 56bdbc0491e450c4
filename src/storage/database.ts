/**
 * Databases: opened, brought up to date, closed.
 *
 * Reads take a `Db`; writes take a `Tx`, so that a function that changes a wallet cannot be called outside a
 * transaction. Nothing but this folder knows which database it is.
 */
import { Kysely, Migrator, SqliteDialect, type Migration, type Transaction } from 'kysely'
import type { AgentTables } from './agent-tables.ts'
import type { MediatorTables } from './mediator-tables.ts'
import * as agent001 from './migrations/agent-001-init.ts'
import * as mediator001 from './migrations/mediator-001-init.ts'
import * as wallet001 from './migrations/wallet-001-init.ts'
import { openSqlite } from './sqlite.ts'
import type { WalletTables } from './wallet-tables.ts'

export type Db = Kysely<WalletTables>
export type Tx = Transaction<WalletTables>
export type AgentDb = Kysely<AgentTables>
export type AgentTx = Transaction<AgentTables>
export type MediatorDb = Kysely<MediatorTables>
export type MediatorTx = Transaction<MediatorTables>

/** In order, and never changed after a release. */
const agentMigrations: Record<string, Migration> = { '001-init': agent001 }
const mediatorMigrations: Record<string, Migration> = { '001-init': mediator001 }
const walletMigrations: Record<string, Migration> = { '001-init': wallet001 }

/** Opens the agent's database file, made if absent. */
export function openAgentDb(path: string): Promise<AgentDb> {
  return open<AgentTables>(path, agentMigrations)
}

/** Opens the mediator's database file, made if absent. */
export function openMediatorDb(path: string): Promise<MediatorDb> {
  return open<MediatorTables>(path, mediatorMigrations)
}

/** Opens a wallet's database file, made if absent. */
export function openWalletDb(path: string): Promise<Db> {
  return open<WalletTables>(path, walletMigrations)
}

async function open<Tables>(path: string, migrations: Record<string, Migration>): Promise<Kysely<Tables>> {
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: openSqlite(path) }) })
  try {
    const { error } = await new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } }).migrateToLatest()
    if (error) throw error
    return db
  } catch (error) {
    await db.destroy()
    throw error
  }
}
