/**
 * The checks of the database of AGENT_DATABASE_URL, over connections of their own, with a running node and
 * without one. Nothing is migrated or changed.
 */
import type { Clocks } from './clock.ts'
import { maxClockDifferenceMs, readClockDifference } from '../../cluster/lease-table.ts'
import { type Connections, createConnections } from '../../foundation/storage/postgres/connect.ts'
import { openNodes } from '../../foundation/storage/postgres/databases.ts'
import { addressOf, describeFailure } from '../../foundation/storage/postgres/open.ts'
import {
  findServerFault,
  findUnprotected,
  readMigrations,
  readServer,
  type Server,
} from '../../foundation/storage/postgres/server.ts'
import { walletTables } from '../../foundation/storage/postgres/wallet-rows.ts'
import { formatDuration, type Finding } from './check.ts'

/** Below the time limit of a check, so that the finding names the reason. */
const connectTimeoutMs = 3_000

/**
 * Connections of a diagnosis: two for wallets, four for shared tables, two for nodes. They are made when they
 * are needed.
 */
const limit = 8

export type Database = {
  readonly connections: Connections
  /** Host, port and name, without the password. */
  readonly address: string
  readonly server: Server
  /** The round trip of a query. */
  readonly tookMs: number
  readonly migrations: { missing: number; unknown?: string }
  [Symbol.asyncDispose](): Promise<void>
}

/** Connects to the database. A database that cannot be used is a finding. */
export async function openDatabase(url: string): Promise<Database | Finding> {
  const connections = await createConnections(url, limit, 'doctor', connectTimeoutMs)
  try {
    const server = await readServer(connections.nodes)
    const start = performance.now()
    const migrations = await readMigrations(connections.nodes)
    const tookMs = performance.now() - start
    return {
      connections,
      address: addressOf(url),
      server,
      tookMs,
      migrations,
      [Symbol.asyncDispose]: () => connections.close(),
    }
  } catch (error) {
    await connections.close()
    return {
      status: 'failed',
      detail: describeFailure(url, error),
      hint: 'agent config show AGENT_DATABASE_URL   # nodes continue when the database is back',
    }
  }
}

/**
 * Checks the release, the role, the migrations, row-level security, and settings by which a crash of the
 * server loses commits.
 */
export async function checkDatabase(database: Database, isRunning: boolean): Promise<Finding> {
  const { connections, address, server, tookMs, migrations } = database
  const { missing, unknown } = migrations
  const fault = findServerFault(server) ?? (await findUnprotected(connections.nodes))
  if (fault) return { status: 'failed', ...fault }
  if (!server.fsync)
    return {
      status: 'failed',
      detail: `fsync is off on the PostgreSQL of ${address}: after a crash of its machine, what was acknowledged is lost, and the database may be damaged.`,
      hint: 'alter system set fsync = on; select pg_reload_conf()   -- as a superuser',
    }
  if (unknown !== undefined)
    return {
      status: isRunning ? 'warning' : 'failed',
      detail: `A newer release of identity-agent migrated the database (this release does not know ${unknown}). Running nodes of this release continue, but cannot be started again.`,
      hint: 'install that release, then agent daemon restart',
    }
  if (!server.fullPageWrites)
    return {
      status: 'warning',
      detail: `full_page_writes is off on the PostgreSQL of ${address}: a crash of its machine may damage the database, unless its file system writes pages whole.`,
      hint: 'alter system set full_page_writes = on; select pg_reload_conf()   -- as a superuser',
    }
  const reached = `PostgreSQL ${server.release} at ${address} answered in ${formatDuration(Math.ceil(tookMs))}`
  if (missing > 0)
    return { status: 'ok', detail: `${reached}. The next start creates or migrates its tables.` }
  return {
    status: 'ok',
    detail: `${reached}. Row-level security separates the wallets in ${walletTables.length} tables.`,
  }
}

/** The clock of the database, which decides when leases end. */
export async function readDatabaseClock({ connections }: Database): Promise<NonNullable<Clocks['other']>> {
  const aheadMs = await readClockDifference(openNodes(connections))
  return { ms: Date.now() - aheadMs, host: 'the database', maxMs: maxClockDifferenceMs }
}
