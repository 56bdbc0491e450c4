/** The databases of an agent: files in its data folder, or PostgreSQL. */
import { join } from 'node:path'
import { createPostgresSource } from '../operations/backup/postgres-snapshot.ts'
import type { BackupSource } from '../operations/backup/snapshot.ts'
import type { Config } from '../foundation/config/config.ts'
import { type Broadcast, noBroadcast } from '../cluster/broadcast.ts'
import type { Leases } from '../cluster/leases.ts'
import { mediatorId, soleOwnership, type Ownership } from '../cluster/ownership.ts'
import {
  type AgentDb,
  type AuditDb,
  openAgentDb,
  openAuditDb,
  openServedMediatorDb,
} from '../foundation/storage/database.ts'
import type { Connections } from '../foundation/storage/postgres/connect.ts'
import { openAgent, openAudit, openLedger, openMediator } from '../foundation/storage/postgres/databases.ts'
import {
  createEmbeddedLedger,
  type EmbeddedLedger,
  openSqliteLedger,
  type SqliteLedgerOptions,
} from '../did/ledger/sqlite-ledger.ts'
import { WalletRows } from '../wallet/wallet-rows.ts'
import type { MediatorContents } from '../exchange/mediator/writes.ts'
import type { WalletStore } from '../wallet/wallet-store.ts'

export type Store = {
  openAgent(): Promise<AgentDb>
  openAudit(): Promise<AuditDb>
  openMediator(): Promise<MediatorContents>
  /** Opens the embedded ledger without a setting. */
  openLedger(options: SqliteLedgerOptions): Promise<EmbeddedLedger>
  /** Absent for the files in the data folder. */
  readonly wallets?: WalletStore
  readonly ownership: Ownership
  readonly broadcast: Broadcast
  /** Absent for the files in the data folder. */
  readonly backupSource?: BackupSource
  /** The nodes over PostgreSQL. */
  readonly nodes?: Leases
}

/** The files in the data folder. */
export function createFileStore({ AGENT_DATA_DIR: folder }: Pick<Config, 'AGENT_DATA_DIR'>): Store {
  return {
    openAgent: () => openAgentDb(join(folder, 'agent.db')),
    openAudit: () => openAuditDb(join(folder, 'audit.db')),
    openMediator: () => openServedMediatorDb(join(folder, 'mediator.db')),
    openLedger: (options) => openSqliteLedger(join(folder, 'vdr.db'), options),
    ownership: soleOwnership,
    broadcast: noBroadcast,
  }
}

export function createPostgresStore(connections: Connections, leases: Leases, broadcast: Broadcast): Store {
  return {
    openAgent: () => Promise.resolve(openAgent(connections)),
    openAudit: () => Promise.resolve(openAudit(connections)),
    openMediator: () =>
      Promise.resolve(openMediator(connections, mediatorId, () => leases.claimOf(mediatorId))),
    openLedger: (options) =>
      Promise.resolve(
        createEmbeddedLedger(openLedger(connections), 'the database of AGENT_DATABASE_URL', options),
      ),
    wallets: new WalletRows(connections, (walletId) => leases.claimOf(walletId)),
    backupSource: createPostgresSource(connections),
    ownership: leases,
    nodes: leases,
    broadcast,
  }
}
