/**
 * Loads a backup into an empty PostgreSQL database, completely or not at all: in one transaction, in which no
 * node can start. Databases of earlier releases are migrated in a copy.
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Kysely, sql } from 'kysely'
import type { Config } from '../../foundation/config/config.ts'
import { across } from '../../foundation/probe.ts'
import { Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { StartError } from '../../foundation/start-error.ts'
import { toStartError } from '../../foundation/storage/file-errors.ts'
import type { NodeTables } from '../../foundation/storage/node-tables.ts'
import { copyRows, inPostgres, inSqlite } from '../../foundation/storage/postgres/copy-rows.ts'
import { createPostgresDialect } from '../../foundation/storage/postgres/dialect.ts'
import { addressOf, openPostgres } from '../../foundation/storage/postgres/open.ts'
import { continueSequences } from '../../foundation/storage/postgres/shared-rows.ts'
import { nameWallet } from '../../foundation/storage/postgres/wallet-rows.ts'
import { type BackedUpDatabase, openToRead, sharedDatabases, walletDatabase } from './databases.ts'
import { type BackupFile, readManifest } from './manifest.ts'
import { verifyFiles, type VerifiedBackup } from './verify.ts'

/** The least number of connections that the pools need. The transaction has one of them. */
const connectionLimit = 8

/**
 * How long the load waits for a node that starts or another load, and how long it may take to read from files
 * before the server ends it.
 */
const [lockTimeoutMs, idleTimeoutMs] = [5_000, 600_000]

/**
 * Verifies a backup, and loads it into the database of `config.AGENT_DATABASE_URL`, in which no agent has
 * data. If the result has `faults`, nothing was restored.
 *
 * @throws {StartError} 1 when there is no backup, a newer release made it, or its rows cannot be stored; 2
 * without the setting; 5 when the database is in use. Nothing was changed then, but tables may have been
 * created.
 */
export async function loadBackup(from: string, config: Config): Promise<VerifiedBackup> {
  const url = config.AGENT_DATABASE_URL?.reveal()
  if (url === undefined)
    throw new StartError(
      'AGENT_DATABASE_URL is not set: name the database to restore into, or restore into a folder with --data-dir.',
      2,
    )
  const manifest = readManifest(from)
  const verified = await verifyFiles(from, manifest, config)
  if (verified.faults.length > 0) return verified
  const connections = await openPostgres({ url, connections: connectionLimit, nodeName: 'restore' })
  const dialect = createPostgresDialect(connections.shared, { openWrite: () => undefined })
  const load = async (tx: Kysely<any>) => {
    await assertUnused(tx, addressOf(url))
    for (const file of manifest.files) await loadFile(tx, from, file)
    await continueSequences(tx)
  }
  try {
    await across('backup-name', {}, () =>
      new Kysely<any>({ dialect }).transaction().execute((tx) => across('backup-files', {}, () => load(tx))),
    )
    return verified
  } catch (error) {
    throw toFailure(error)
  } finally {
    await connections.close()
  }
}

/**
 * Keeps nodes from starting until the transaction ends.
 *
 * @throws {StartError} 5 when a node runs, or an agent has data there
 */
async function assertUnused(tx: Kysely<any>, address: string): Promise<void> {
  await sql`select set_config('lock_timeout', ${String(lockTimeoutMs)}, true),
    set_config('idle_in_transaction_session_timeout', ${String(idleTimeoutMs)}, true)`.execute(tx)
  await sql`lock table node in share row exclusive mode`.execute(tx)
  const running = await (tx as Kysely<NodeTables>)
    .selectFrom('node')
    .select('name')
    .where('expires_at', '>', sql<Date>`clock_timestamp()`)
    .executeTakeFirst()
  if (running)
    throw new StartError(
      `The node ${running.name} runs over the database ${address}. Nothing was changed. Restore into a new database.`,
      5,
    )
  for (const { tables } of Object.values(sharedDatabases)) {
    for (const table of tables) {
      const row = await tx
        .selectFrom(inPostgres(tx).nameOf(table))
        .select(sql`1`.as('one'))
        .limit(1)
        .executeTakeFirst()
      if (row)
        throw new StartError(
          `The database ${address} has the data of an agent already (rows in ${inPostgres(tx).nameOf(table)}). Nothing was changed. Restore into a new database.`,
          5,
        )
    }
  }
}

/** Files of other databases, such as a ledger that `VDR_URL` names, are not the agent's. */
async function loadFile(tx: Kysely<any>, folder: string, { path, schema }: BackupFile): Promise<void> {
  const isWallet = path.startsWith('wallets/')
  const database = isWallet ? walletDatabase : sharedDatabases[path]
  if (!database) return
  if (isWallet) await nameWallet(tx, basename(path, '.db'))
  const copy = (from: Kysely<any>) => copyRows(inSqlite(from), inPostgres(tx), database.tables)
  try {
    if (schema === database.schema) {
      await using db = openToRead(join(folder, path))
      await copy(db)
    } else await withMigrated(database, join(folder, path), copy)
  } catch (error) {
    const cause = error instanceof Problem ? error.cause : error
    if ((cause as { code?: string } | undefined)?.code !== '22021') throw error
    throw new StartError(
      `${path} has a text with the character U+0000, which PostgreSQL cannot store. Nothing was restored. Restore the backup into a folder with --data-dir.`,
      1,
      { cause: error },
    )
  }
}

/** The backup itself does not change. */
async function withMigrated(
  { open }: BackedUpDatabase,
  path: string,
  use: (db: Kysely<any>) => Promise<unknown>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'identity-agent-restore-'))
  try {
    const copied = join(folder, basename(path))
    copyFileSync(path, copied)
    await using db = await open(copied)
    await use(db)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function toFailure(error: unknown): unknown {
  const known = toStartError(error)
  if (known instanceof StartError) return known
  const reason = known instanceof Problem ? known.message.replace(/\.$/, '') : reasonOf(known)
  return new StartError(`The backup was not restored: ${reason}.`, 1, { cause: error })
}
