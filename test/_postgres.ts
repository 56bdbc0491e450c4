/** PostgreSQL for tests: an unprivileged server on a free port, in a temporary folder. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { findPrograms, shared, unprivileged } from './_postgres-programs.ts'

/** Settings of a server whose data nobody keeps. */
const quick = ['fsync=off', 'full_page_writes=off', 'max_connections=200', 'log_min_messages=fatal']

export type Postgres = {
  readonly port: number
  readonly folder: string
  /** The folder of its data. */
  readonly data: string
  /** Creates a database with a role that owns it, which row-level security applies to. @returns its URL */
  createDatabase(): Promise<string>
  /** Runs statements as the superuser. */
  asSuperuser(database: string, statements: string): Promise<pg.QueryResult>
  /** Stops the server as a crash does. */
  kill(): Promise<void>
  start(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

let databases = 0

/** Makes the data of a new server in a folder that does not exist yet. */
function initialize(data: string): void {
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '--no-locale', '-E', 'UTF8']
  execFileSync(join(findPrograms(), 'initdb'), initdb, { ...unprivileged, cwd: dirname(data), stdio: 'pipe' })
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
    // The end of this process closes the pipe, and so stops the server.
    const script = `'${join(bin, 'postgres')}' -D '${data}' ${flags} & cat > /dev/null; kill -INT $!; wait`
    server = spawn('sh', ['-c', script], {
      ...unprivileged,
      cwd: folder,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    await untilReady(port)
  }

  async function stop(): Promise<void> {
    const stopped = server && once(server, 'exit')
    server?.stdin?.end()
    await stopped
    server = undefined
  }

  const asSuperuser = async (database: string, statements: string) => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database })
    await client.connect()
    try {
      return await client.query(statements)
    } finally {
      await client.end()
    }
  }

  await start()
  return {
    port,
    folder,
    data,
    asSuperuser,
    async createDatabase() {
      const name = `agent_${process.pid}_${++databases}`
      await asSuperuser('postgres', `create role ${name} login password 'secret'`)
      await asSuperuser('postgres', `create database ${name} owner ${name}`)
      return `postgres://${name}:secret@127.0.0.1:${port}/${name}`
    },
    async kill() {
      const [pid] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
      process.kill(Number(pid), 'SIGKILL')
      await stop()
    },
    start,
    async [Symbol.asyncDispose]() {
      await stop()
      // Processes of a server that was killed end after it.
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
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
