/**
 * Databases: opened, brought up to date, closed.
 *
 * Reads take a `Db`; writes take a `Tx`, so that a function that changes a wallet cannot be called outside a
 * transaction. Nothing but this folder knows which database it is.
 */
import { Kysely, Migrator, type Migration, type Transaction } from 'kysely'
import type { AgentTables } from './agent-tables.ts'
import type { MediatorTables } from './mediator-tables.ts'
import { takeChecksum } from './checksum.ts'
import { DamagedFileError } from './damaged-file-error.ts'
import { createDialect, translate } from './dialect.ts'
import * as agent001 from './migrations/agent-001-init.ts'
import * as mediator001 from './migrations/mediator-001-init.ts'
import * as wallet001 from './migrations/wallet-001-init.ts'
import { openSqlite, type Database } from './sqlite.ts'
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

/** Opens the database file of a wallet that is known. @throws {DamagedFileError} when it is damaged, or is no wallet's; nothing was changed then. */
export async function openKnownWalletDb(path: string): Promise<Db> {
  const isSound = await takeChecksum(path)
  return open<WalletTables>(path, walletMigrations, (database) => {
    if (!isSound) mustBeSound(database)
    const hasSettings = database.prepare("select 1 from sqlite_master where type = 'table' and name = 'setting'").get() !== undefined
    if (!hasSettings) throw new DamagedFileError(path, 'is not the file of a wallet')
  })
}

/** Takes one or two milliseconds for a file of several megabytes. */
function mustBeSound(database: Database): void {
  const found = database.pragma('quick_check(1)', { simple: true })
  if (found !== 'ok') throw new DamagedFileError(database.name, `is damaged: ${String(found)}`)
}

async function open<Tables>(
  path: string,
  migrations: Record<string, Migration>,
  examine?: (database: Database) => void,
): Promise<Kysely<Tables>> {
  const database = connect(path, examine)
  const db = new Kysely<Tables>({ dialect: createDialect(database) })
  try {
    const { error } = await new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } }).migrateToLatest()
    if (error) throw error
    return db
  } catch (error) {
    await db.destroy()
    throw error
  }
}

function connect(path: string, examine: (database: Database) => void = () => undefined): Database {
  let database: Database | undefined
  try {
    database = openSqlite(path)
    examine(database)
    return database
  } catch (error) {
    database?.close()
    throw translate(error, path)
  }
}
