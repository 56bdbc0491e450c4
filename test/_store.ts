/**
 * Where the agents of tests keep their wallets: SQLite files, or PostgreSQL with `TEST_STORE=postgres`. There is one server for each test
 * process, and one database for each data folder.
 */
import { startPostgres, type Postgres } from './_postgres.ts'

export const isOnPostgres = process.env['TEST_STORE'] === 'postgres'

let server: Promise<Postgres> | undefined
const urls = new Map<string, Promise<string>>()

/** The settings of an agent with this data folder. An agent that starts again finds its database. */
export async function storeOf(dataDir: string): Promise<Record<string, string>> {
  if (!isOnPostgres) return {}
  // It ends with this process.
  server ??= startPostgres()
  const postgres = await server
  const url = urls.get(dataDir) ?? postgres.createDatabase()
  urls.set(dataDir, url)
  return { AGENT_DATABASE_URL: await url, AGENT_LEASE_SECONDS: '2', AGENT_DATABASE_CONNECTIONS: '10' }
}
