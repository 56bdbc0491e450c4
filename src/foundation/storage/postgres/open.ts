/** Connects to PostgreSQL, checks the server and the role, and creates or migrates the tables. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { systemReason } from '../../system-reason.ts'
import { StartError } from '../../start-error.ts'
import { migrate, type Migrations } from '../migrate.ts'
import { type Connections, createConnections } from './connect.ts'
import { createPostgresDialect } from './dialect.ts'
import { isDeadlock } from './errors.ts'
import { postgresMigrations } from './migrations.ts'
import { findServerFault, findUnprotected, readMigrations, readServer } from './server.ts'

/** How often a migration is begun again after a deadlock, and how long it waits before, at most. */
const [maxDeadlocks, deadlockPauseMs] = [20, 500]

type Settings = { url: string; connections: number; nodeName: string }

/** Migrates the tables too. @throws {StartError} in one sentence; nothing is open then */
export async function openPostgres({ url, connections: limit, nodeName }: Settings): Promise<Connections> {
  const connections = await createConnections(url, limit, nodeName)
  try {
    await assertUsable(connections)
    await migrateDatabase(connections)
    return connections
  } catch (error) {
    await connections.close()
    throw error instanceof StartError
      ? error
      : new StartError(describeFailure(url, error), 1, { cause: error })
  }
}

async function assertUsable({ nodes }: Connections): Promise<void> {
  const fault = findServerFault(await readServer(nodes))
  if (fault) throw new StartError(fault.detail, 1)
}

/**
 * One transaction. Nodes that start at the same time wait for each other.
 *
 * @throws {StartError} for a database of a newer release
 */
export async function migrateDatabase(
  { shared }: Pick<Connections, 'shared'>,
  migrations: Migrations = postgresMigrations,
): Promise<void> {
  const { missing, unknown } = await readMigrations(shared, migrations)
  if (unknown !== undefined)
    throw new StartError(
      `A newer release of identity-agent migrated the database (this release does not know ${unknown}); nothing was changed. Start that release.`,
      1,
    )
  if (missing > 0) await migrateWithRetries(shared, migrations)
  const fault = await findUnprotected(shared)
  if (fault) throw new StartError(fault.detail, 1)
}

/**
 * Nodes of the previous release work meanwhile, and lock tables in another order. After a deadlock, the
 * migration begins again.
 */
async function migrateWithRetries(shared: Pool, migrations: Migrations): Promise<void> {
  const db = new Kysely<unknown>({ dialect: createPostgresDialect(shared, { openWrite: () => undefined }) })
  for (let deadlocks = 0; ; deadlocks++)
    try {
      return await migrate(db, migrations)
    } catch (error) {
      if (!isDeadlock(error) || deadlocks === maxDeadlocks) throw error
      await sleep(Math.random() * deadlockPauseMs)
    }
}

/** Why the database cannot be used. The address is shown without the password. */
export function describeFailure(url: string, error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  // The server says it in a sentence; errors of the connection have codes.
  const isOfServer = (cause as { severity?: string }).severity !== undefined
  const reason = isOfServer ? (cause as Error).message.split('\n')[0]! : systemReason(cause)
  return `The database of AGENT_DATABASE_URL (${addressOf(url)}) cannot be used: ${reason}. Check that the server runs, and the address, role and password.`
}

/** The host and the name of a database, for texts. */
export function addressOf(url: string): string {
  try {
    const { host, pathname } = new URL(url)
    return `${host}${pathname}`
  } catch {
    return 'not a URL of the form postgres://role:password@host:port/database'
  }
}
