/**
 * Writes all rows in PostgreSQL as the files of a backup, as they are at one instant, while all nodes run.
 *
 * One transaction reads everything (`repeatable read`): it sees one state, and pauses no write. It has a
 * connection of its own, and names each wallet in turn, because row-level security hides the others.
 */
import { join } from 'node:path'
import { Kysely, sql } from 'kysely'
import PQueue from 'p-queue'
import type { Client } from 'pg'
import { fillFile, makeImage } from '../../foundation/storage/image.ts'
import type { Connections } from '../../foundation/storage/postgres/connect.ts'
import { copyRows, inPostgres, inSqlite } from '../../foundation/storage/postgres/copy-rows.ts'
import { createPostgresDialect } from '../../foundation/storage/postgres/dialect.ts'
import { findFilledTables, nameWallet } from '../../foundation/storage/postgres/wallet-rows.ts'
import { startCopier } from './copier.ts'
import { sharedDatabases, walletDatabase } from './databases.ts'
import type { BackupFile } from './manifest.ts'
import { type BackupSource, type Snapshot, toFile, walletPath } from './snapshot.ts'

/**
 * The server ends the transaction when this node pauses for so long. It holds no lock that another
 * transaction waits for, but while it runs, the server keeps rows that were deleted since.
 */
const idleTimeoutMs = 60_000

/** Files that are flushed to the disk at a time. */
const flushesAtOnce = 4

export function createPostgresSource(connections: Connections): BackupSource {
  return {
    estimateBytes: () => withTransaction(connections, undefined, estimateBytes),
    async takeSnapshot(target, signal) {
      const copier = await startCopier()
      const onAbort = () => void copier.close()
      signal.addEventListener('abort', onAbort)
      try {
        const { paths, instant, missing } = await withTransaction(connections, signal, (tx) =>
          writeFiles(tx, target, signal),
        )
        signal.throwIfAborted()
        const tasks = paths.map((path) => join(target, path))
        // Copies nothing: it checks and hashes the files.
        const checked = await copier.copy(
          tasks.map((path) => ({ from: path, to: path, isOpen: false })),
          () => undefined,
        )
        const flushes = new PQueue({ concurrency: flushesAtOnce })
        const flush = (path: string, index: number) => () => toFile(target, path, checked[index]!, signal)
        const files: BackupFile[] = await flushes.addAll(paths.map(flush))
        return { instant, files, missing, heldMs: 0 }
      } finally {
        signal.removeEventListener('abort', onAbort)
        await copier.close()
      }
    },
  }
}

/** Runs `work` in one transaction that sees one state. An abort of `signal` ends the statement under way. */
async function withTransaction<T>(
  connections: Connections,
  signal: AbortSignal | undefined,
  work: (tx: Kysely<any>) => Promise<T>,
): Promise<T> {
  const pool = connections.createPool()
  let client: Client | undefined
  pool.on('connect', (connected) => void (client = connected as unknown as Client))
  const onAbort = () => void client?.end().catch(() => undefined)
  signal?.addEventListener('abort', onAbort)
  const db = new Kysely<any>({ dialect: createPostgresDialect(pool, { openWrite: () => undefined }) })
  try {
    return await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx) => {
        await sql`set transaction read only`.execute(tx)
        await sql`select set_config('idle_in_transaction_session_timeout', ${String(idleTimeoutMs)}, true)`.execute(
          tx,
        )
        return work(tx)
      })
  } finally {
    signal?.removeEventListener('abort', onAbort)
    await pool.end()
  }
}

type Written = Pick<Snapshot, 'instant' | 'missing'> & { paths: string[] }

/** Writes one file for each database. @returns their paths in order */
async function writeFiles(tx: Kysely<any>, target: string, signal: AbortSignal): Promise<Written> {
  const [instant, paths, missing] = [new Date().toISOString(), [] as string[], [] as Snapshot['missing']]
  for (const [path, { tables, createTables }] of Object.entries(sharedDatabases)) {
    const image = await makeImage(createTables)
    await fillFile(join(target, path), image, (to) => copyRows(inPostgres(tx), inSqlite(to), tables))
    paths.push(path)
  }
  const image = await makeImage(walletDatabase.createTables)
  const wallets: { id: string }[] = await tx.selectFrom('wallet').select('id').orderBy('id').execute()
  for (const { id } of wallets) {
    signal.throwIfAborted()
    await nameWallet(tx, id)
    const tables = await findFilledTables(tx)
    const path = walletPath(id)
    if (tables.length === 0) missing.push({ walletId: id, reason: 'its rows are missing' })
    else {
      await fillFile(join(target, path), image, (to) => copyRows(inPostgres(tx), inSqlite(to), tables))
      paths.push(path)
    }
  }
  return { instant, paths, missing }
}

/** The tables and their indexes, as PostgreSQL stores them, and the empty file of each wallet. */
async function estimateBytes(tx: Kysely<any>): Promise<number> {
  const { rows } = await sql<{ tables: number; wallets: number }>`
    select (select coalesce(sum(pg_total_relation_size(oid)), 0) from pg_class
      where relkind = 'r' and relnamespace = to_regnamespace(current_schema())) as tables,
    (select count(*) from wallet) as wallets`.execute(tx)
  const { tables, wallets } = rows[0]!
  return tables + wallets * (await makeImage(walletDatabase.createTables)).length
}
