/**
 * Where the agents of tests keep their wallets: SQLite files, or PostgreSQL with `TEST_STORE=postgres`. There
 * is one database for each data folder.
 */
import type { Server } from './postgres.ts'
import { openServer } from './shared-postgres.ts'

export const isOnPostgres = process.env['TEST_STORE'] === 'postgres'

let server: Promise<Server> | undefined
const urls = new Map<string, Promise<string>>()

/**
 * The settings of an agent with this data folder. An agent that starts again finds its database.
 *
 * `leaseSeconds`: the start after a crash waits for the end of the lease. A busy machine does not always
 * renew a short one in time.
 */
export async function storeOf(dataDir: string, leaseSeconds: number): Promise<Record<string, string>> {
  if (!isOnPostgres) return {}
  // Outside of vitest, it ends with this process.
  server ??= openServer()
  const postgres = await server
  const url = urls.get(dataDir) ?? postgres.createDatabase()
  urls.set(dataDir, url)
  return {
    AGENT_DATABASE_URL: await url,
    AGENT_LEASE_SECONDS: String(leaseSeconds),
    AGENT_DATABASE_CONNECTIONS: '10',
  }
}
