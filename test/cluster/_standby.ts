/**
 * A PostgreSQL with a synchronous standby, which takes the place of the primary when that one is killed. Each
 * fail-over makes a new standby. The data of a killed primary is deleted: it never comes back.
 */
import { execFile } from 'node:child_process'
import { chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { unprivileged } from '../support/postgres-programs.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'

/** Settings of servers that keep what they have acknowledged. */
const durable = [
  'fsync=on',
  'synchronous_commit=on',
  'wal_keep_size=512MB',
  'wal_retrieve_retry_interval=200ms',
  'max_connections=200',
  'log_min_messages=fatal',
]

/**
 * Files that the copy leaves out: the write-ahead log, which the standby gets from the primary, and files of
 * the running server.
 */
const notCopied = new Set(['pg_wal', 'pg_replslot', 'postmaster.pid', 'postmaster.opts'])

export type Replicated = Postgres & {
  /**
   * Kills the primary and makes the standby the primary, on another port. Resolves before there is a new
   * standby.
   */
  failOver(): Promise<void>
}

export async function startReplicated(): Promise<Replicated> {
  let primary = await startPostgres(durable)
  let standby = addStandby(primary)
  await standby
  return {
    get port() {
      return primary.port
    },
    get folder() {
      return primary.folder
    },
    get data() {
      return primary.data
    },
    createDatabase: () => primary.createDatabase(),
    asSuperuser: (database, statements) => primary.asSuperuser(database, statements),
    async kill() {
      await standby
      await primary.kill()
    },
    start: () => primary.start(),
    async failOver() {
      const next = await standby
      await primary.kill()
      await primary[Symbol.asyncDispose]()
      await next.asSuperuser('postgres', 'select pg_promote()')
      primary = next
      standby = addStandby(primary)
      // The next use reports it.
      standby.catch(() => undefined)
    },
    async [Symbol.asyncDispose]() {
      const next = await standby.catch(() => undefined)
      await primary[Symbol.asyncDispose]()
      await next?.[Symbol.asyncDispose]()
    },
  }
}

/** Resolves when commits wait for the standby. */
async function addStandby(primary: Postgres): Promise<Postgres> {
  const standby = await startPostgres(durable, (data) => copyData(primary, data))
  const run = (statement: string) => primary.asSuperuser('postgres', statement)
  await run(`alter system set synchronous_standby_names to '*'`)
  await run('select pg_reload_conf()')
  const isSynchronous = async () =>
    (await run(`select from pg_stat_replication where sync_state = 'sync'`)).rows.length > 0
  while (!(await isSynchronous())) await sleep(50)
  // This commit waits, and so the log of all commits before is at the standby too.
  await run(`comment on database postgres is 'replicated'`)
  return standby
}

/**
 * Copies the data of a running server
 * (https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP).
 */
async function copyData(primary: Postgres, data: string): Promise<void> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port: primary.port,
    user: 'postgres',
    database: 'postgres',
  })
  await client.connect()
  try {
    await client.query(`select pg_backup_start('standby', true)`)
    makeFolder(data)
    for (const name of notCopied) if (name.startsWith('pg_')) makeFolder(join(data, name))
    const names = readdirSync(primary.data).filter((name) => !notCopied.has(name))
    const sources = names.map((name) => join(primary.data, name))
    // Files may end while they are copied, which `cp` reports. The log has what is needed.
    await promisify(execFile)('cp', ['-Rp', ...sources, data], unprivileged).catch(() => undefined)
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    writeOwn(join(data, 'backup_label'), rows[0]!.labelfile)
    writeOwn(join(data, 'standby.signal'), '')
    // It replaces the setting of the primary that commits wait for a standby.
    writeOwn(
      join(data, 'postgresql.auto.conf'),
      `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres'\n`,
    )
  } finally {
    await client.end()
  }
}

function makeFolder(path: string): void {
  mkdirSync(path, { mode: 0o700 })
  own(path)
}

function writeOwn(path: string, content: string): void {
  writeFileSync(path, content)
  own(path)
}

function own(path: string): void {
  if (unprivileged.uid !== undefined) chownSync(path, unprivileged.uid, unprivileged.gid)
}
