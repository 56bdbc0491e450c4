/**
 * Whether the agent can serve: the question of an orchestrator or a load balancer, asked every few seconds.
 *
 * It answers from this process and its disk alone. A remote ledger that cannot be reached does not make the
 * agent unready: connections, messages and most proofs work without it, and every agent of the ledger would
 * leave service at once. Metrics and `agent doctor` show it.
 */
import { constants } from 'node:fs'
import { access, stat, statfs, utimes } from 'node:fs/promises'
import type { Config } from '../foundation/config/config.ts'
import { systemReason } from '../foundation/system-reason.ts'
import type { AgentDb } from '../foundation/storage/database.ts'

/** Free bytes below which a write may fail soon. */
const leastFreeBytes = 20_000_000

export const readinessChecks = ['running', 'database', 'worker', 'disk', 'node'] as const

/** A check that failed, with a sentence for people. */
export type Unready = { check: (typeof readinessChecks)[number]; detail: string }

export type Readiness = {
  /** The agent is stopping: it is not ready any more. */
  stop(): void
  /** The checks that fail; none if the agent is ready. */
  check(): Promise<Unready[]>
}

type Parts = {
  config: Pick<Config, 'AGENT_DATA_DIR'>
  db: AgentDb
  worker: { readonly isResumed: boolean }
  /** Of an agent over PostgreSQL. */
  nodes?: { isHeld: () => boolean; isDraining: () => boolean } | undefined
}

export function createReadiness({ config, db, worker, nodes }: Parts): Readiness {
  let isStopping = false
  const folder = config.AGENT_DATA_DIR
  const checks: Record<Unready['check'], () => Promise<string | undefined>> = {
    running: () => Promise.resolve(isStopping ? 'The agent is stopping.' : undefined),
    database: () =>
      db
        .selectFrom('wallet')
        .select('id')
        .limit(1)
        .execute()
        .then(() => undefined),
    worker: () =>
      Promise.resolve(worker.isResumed ? undefined : 'The work of the last run is being resumed.'),
    node: () => Promise.resolve(nodes && findFault(nodes)),
    async disk() {
      await access(folder, constants.R_OK | constants.W_OK)
      await touch(folder)
      const free = await readFreeBytes(folder)
      return free < leastFreeBytes
        ? `Only ${Math.floor(free / 1_000_000)} MB are free on the disk of the data folder.`
        : undefined
    },
  }
  return {
    stop: () => void (isStopping = true),
    async check() {
      const results = readinessChecks.map(async (check) => {
        const detail = await checks[check]().catch((error) => `It cannot be used: ${systemReason(error)}.`)
        return detail === undefined ? [] : [{ check, detail }]
      })
      return (await Promise.all(results)).flat()
    },
  }
}

function findFault({ isHeld, isDraining }: NonNullable<Parts['nodes']>): string | undefined {
  if (isDraining()) return 'The node gives its wallets to the others.'
  return isHeld() ? undefined : 'The node cannot renew its lease, because the database does not answer.'
}

/**
 * Writes the times of a folder, as they are. After an I/O error, Linux may refuse writes while the mount is
 * still said to be writable. Only the owner of a folder may write its times.
 */
async function touch(folder: string): Promise<void> {
  const { atime, mtime } = await stat(folder)
  await utimes(folder, atime, mtime).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPERM') throw error
  })
}

export async function readFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
