/**
 * Databases with tables and no rows, created once per process: creating the tables is a third of a first
 * start.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentMigrations } from '../../src/foundation/storage/migrations/agent.ts'
import { auditMigrations } from '../../src/foundation/storage/migrations/audit.ts'
import { makeImage } from '../../src/foundation/storage/image.ts'
import { migrate } from '../../src/foundation/storage/migrate.ts'

const migrations = { 'agent.db': agentMigrations, 'audit.db': auditMigrations }

const make = () =>
  Promise.all(
    Object.entries(migrations).map(async ([name, own]) => ({
      name,
      bytes: await makeImage<object>((db) => migrate(db, own)),
    })),
  )

let blank: ReturnType<typeof make> | undefined

/**
 * Copies the databases into an empty data folder: the state after a kill at the first start, before keys
 * exist.
 */
export async function putBlankDatabases(dataDir: string): Promise<void> {
  for (const { name, bytes } of await (blank ??= make()))
    writeFileSync(join(dataDir, name), bytes, { mode: 0o600 })
}
