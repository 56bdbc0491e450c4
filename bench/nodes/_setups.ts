/** Agents over SQLite files and over PostgreSQL, for flows between their tenants. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assemble } from '../../test/support/assemble.ts'
import { Daemon } from '../../test/support/daemon.ts'
import { startPostgres, type Postgres } from '../../test/support/postgres.ts'
import { openSetup, type Setup } from '../flows/_setup.ts'
import { cpuMsOf } from './_processes.ts'

/** A database whose commits are on disk, as in production. */
const durable = ['max_connections=200', 'log_min_messages=fatal', 'shared_buffers=256MB']

export type Measured = AsyncDisposable & {
  setup: Setup
  /** CPU milliseconds until now: of the agent, and of the database. */
  cpu: () => { agent: number; database: number }
}

/** One daemon whose tenants are on both sides of the flows. */
export function openAgent(pairs: number, env: Record<string, string>): Promise<Measured> {
  return assemble(async (use) => {
    const isOnPostgres = 'AGENT_DATABASE_URL' in env
    const server = isOnPostgres ? use(await openServer()) : undefined
    const store = server && { AGENT_DATABASE_URL: await server.createDatabase() }
    let daemon: Daemon
    const setup = use(
      await openSetup(pairs, { ...env, ...store }, (variables) =>
        assemble(async (keep) => {
          daemon = keep(await Daemon.start(variables))
          return { acme: daemon, alice: daemon }
        }),
      ),
    )
    return {
      setup,
      cpu: () => ({ agent: cpuMsOf(daemon.pid), database: server ? cpuMsOf(pidOf(server)) : 0 }),
    }
  })
}

export function openServer(): Promise<Postgres> {
  return startPostgres(durable)
}

export function pidOf({ folder }: Postgres): number {
  return Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
}
