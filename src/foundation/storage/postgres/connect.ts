/** Connections to PostgreSQL, in pools of their own by what waits for what. */
import type { Client, ClientConfig, Pool } from 'pg'
import { toPostgresError } from './errors.ts'

/**
 * `wallets` runs the transactions of wallets, which may wait for `shared`; transactions of the tables that
 * all tenants share never wait for a wallet. `nodes` renews leases, which must not wait for either.
 */
export type Pools = { wallets: Pool; shared: Pool; nodes: Pool }

export type Connections = Pools & {
  /** A connection of its own, for `LISTEN`. */
  createClient(): Client
  /**
   * A pool of one more connection, for a long transaction, which must not take one from requests. The caller
   * closes it.
   */
  createPool(): Pool
  close(): Promise<void>
}

/** How long a request waits for a free connection, and for a new one. */
const usualConnectTimeoutMs = 5_000

/**
 * How long a query waits for a server that does not answer. A renewal of a lease that takes longer is too
 * late.
 */
const [queryTimeoutMs, leaseTimeoutMs] = [35_000, 4_000]

/** The connections of the tables that all tenants share, and of leases. */
const [sharedConnections, nodeConnections] = [4, 2]

/** Seconds without traffic after which the system asks whether the server is still there. */
const keepAliveDelayMs = 5_000

/**
 * Makes the pools, at most `limit` connections in all. Nothing connects yet. A connection closes after ten
 * seconds without use.
 *
 * @throws {TypeError} when `url` is not a URL
 */
export async function createConnections(
  url: string,
  limit: number,
  name: string,
  connectTimeoutMs = usualConnectTimeoutMs,
): Promise<Connections> {
  const { default: pg } = await import('pg')
  // The types of `bigint`, `count(*)` and `sum(bigint)`, whose values here are all below 2^53.
  const { INT8, NUMERIC } = pg.types.builtins
  const config: ClientConfig = {
    connectionString: url,
    application_name: `identity-agent ${name}`,
    // Statements of a transaction are sent without waiting for the result of the one before.
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    connectionTimeoutMillis: connectTimeoutMs,
    types: {
      getTypeParser: (oid, format) =>
        oid === INT8 || oid === NUMERIC ? Number : pg.types.getTypeParser(oid, format),
    },
  }
  const createPool = (max: number, query_timeout = queryTimeoutMs) => {
    const pool = new pg.Pool({ ...config, max, query_timeout })
    // An idle connection that breaks is replaced with the next query, which reports the error if it lasts.
    pool.on('error', () => undefined)
    return pool
  }
  const pools: Pools = {
    wallets: createPool(Math.max(1, limit - sharedConnections - nodeConnections)),
    shared: createPool(sharedConnections),
    nodes: createPool(nodeConnections, leaseTimeoutMs),
  }
  return {
    ...pools,
    createClient: () => new pg.Client(config),
    createPool: () => createPool(1),
    close: async () => void (await Promise.all(Object.values(pools).map((pool) => pool.end()))),
  }
}

/** Runs one query on a connection of a pool. @throws as `toPostgresError` */
export async function query<Row extends object>(
  pool: Pool,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  try {
    return (await pool.query<Row>(text, values)).rows
  } catch (error) {
    throw toPostgresError(error)
  }
}
