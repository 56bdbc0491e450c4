/** PostgreSQL for tests: an unprivileged server on a free port, in a temporary folder. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from './free-port.ts'
import { findPrograms, shared, unprivileged } from './postgres-programs.ts'

/** Settings of a server whose data nobody keeps. */
export const quick = ['fsync=off', 'full_page_writes=off', 'max_connections=200', 'log_min_messages=fatal']

/** A server that others may use too. Disposing of one that the tests of a run share does nothing. */
export type Server = AsyncDisposable & {
  readonly port: number
  /**
   * Creates a database with a role of its own that owns it, which row-level security applies to. A server
   * with a template copies that, unless the database `isEmpty`. @returns its URL
   */
  createDatabase(options?: { isEmpty?: boolean }): Promise<string>
  /** Runs statements as the superuser. */
  asSuperuser(database: string, statements: string): Promise<pg.QueryResult>
}

/** A server of one test. */
export type Postgres = Server & {
  readonly folder: string
  /** The folder of its data. */
  readonly data: string
  /** Stops the server as a crash does. */
  kill(): Promise<void>
  start(): Promise<void>
}

/** A database to copy, without connections, and the role that owns its tables. */
export type Template = { database: string; role: string }

/** A server that runs on this machine. */
export function connectTo(port: number, template?: Template): Omit<Server, keyof AsyncDisposable> {
  const asSuperuser: Server['asSuperuser'] = async (database, statements) => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database })
    await client.connect()
    try {
      return await client.query(statements)
    } finally {
      await client.end()
    }
  }
  return {
    port,
    asSuperuser,
    async createDatabase({ isEmpty = false } = {}) {
      const name = `agent_${randomBytes(6).toString('hex')}`
      await asSuperuser('postgres', `create role ${name} login password 'secret'`)
      const source = isEmpty || !template ? '' : `template ${template.database}`
      await asSuperuser('postgres', `create database ${name} owner ${name} ${source}`)
      if (source !== '') await asSuperuser(name, `reassign owned by ${template!.role} to ${name}`)
      return `postgres://${name}:secret@127.0.0.1:${port}/${name}`
    },
  }
}

/** Makes the data of a new server in a folder that does not exist yet. */
async function initialize(data: string): Promise<void> {
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '--no-locale', '-E', 'UTF8']
  await promisify(execFile)(join(findPrograms(), 'initdb'), initdb, { ...unprivileged, cwd: dirname(data) })
}

/** Starts a server. `settings` are lines of `postgresql.conf`; `fill` makes its data. */
export async function startPostgres(
  settings: readonly string[] = quick,
  fill: (data: string) => void | Promise<void> = initialize,
): Promise<Postgres> {
  const bin = findPrograms()
  const folder = mkdtempSync(join(shared, 'postgres-'))
  if (unprivileged.uid !== undefined) chownSync(folder, unprivileged.uid, unprivileged.gid)
  const data = join(folder, 'data')
  await fill(data)
  const port = await freePort()
  let server: ChildProcess | undefined

  async function start(): Promise<void> {
    const options = [
      `port=${port}`,
      'listen_addresses=127.0.0.1',
      `unix_socket_directories=${folder}`,
      ...settings,
    ]
    const flags = options.map((option) => `-c '${option}'`).join(' ')
    // The end of this process closes the pipe, and so stops the server and deletes its folder. A line keeps
    // the folder. Signals for all processes of a terminal reach the shell too.
    const script = `trap '' HUP INT TERM; '${join(bin, 'postgres')}' -D '${data}' ${flags} & read -r line
      kill -INT $!; wait; [ -n "$line" ] || rm -rf '${folder}'`
    server = spawn('sh', ['-c', script], {
      ...unprivileged,
      cwd: folder,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    await untilReady(port)
  }

  async function stop(line = ''): Promise<void> {
    const stopped = server && once(server, 'exit')
    server?.stdin?.end(line)
    await stopped
    server = undefined
  }

  await start()
  return {
    ...connectTo(port),
    folder,
    data,
    async kill() {
      const [pid] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
      process.kill(Number(pid), 'SIGKILL')
      await stop('keep\n')
    },
    start,
    async [Symbol.asyncDispose]() {
      await stop()
      // Processes of a server that was killed end after it.
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

async function untilReady(port: number): Promise<void> {
  for (let tries = 0; ; tries++) {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
    try {
      await client.connect()
      await client.end()
      return
    } catch (error) {
      if (tries > 200) throw error
      await sleep(50)
    }
  }
}
