/** All checks of the database of AGENT_DATABASE_URL. They replace those of database files. */
import type { Config } from '../../foundation/config/config.ts'
import type { Finding } from './check.ts'
import { type Clocks } from './clock.ts'
import { checkDatabase, openDatabase, readDatabaseClock, type Database } from './database.ts'
import { checkConnections } from './database-connections.ts'
import { checkWalletRows } from './database-wallets.ts'
import { checkNodes, type Self } from './nodes.ts'

export type Checks = Readonly<Record<string, () => Promise<Finding>>>

export type DatabaseChecks = AsyncDisposable & {
  readonly checks: Checks
  /** The clock of the database; absent if the database is away. */
  readonly readClock?: () => Promise<NonNullable<Clocks['other']>>
  /** Absent if it is away, or has no tables yet. */
  readonly database?: Database
}

type Options = {
  isRunning: boolean
  isDeep: boolean
  /** The node that examines, if one runs. */
  self?: Self | undefined
}

/** Connects to the database. One that is away is a failed check. Undefined for an agent over files. */
export async function openDatabaseChecks(
  config: Config,
  { isRunning, isDeep, self }: Options,
): Promise<DatabaseChecks | undefined> {
  const { AGENT_DATABASE_URL: url, AGENT_DATABASE_CONNECTIONS: perNode } = config
  if (!url) return undefined
  const opened = await openDatabase(url.reveal())
  if ('status' in opened)
    return {
      checks: { database: () => Promise.resolve(opened) },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }
  const hasTables = opened.migrations.missing === 0
  return {
    checks: {
      database: () => checkDatabase(opened, isRunning),
      connections: () => checkConnections(opened, perNode),
      ...(hasTables && { nodes: () => checkNodes(opened, self) }),
      ...(hasTables && isDeep && { 'wallet-seeds': () => checkWalletRows(opened, config) }),
    },
    readClock: () => readDatabaseClock(opened),
    ...(hasTables && { database: opened }),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}
