/** Connects to PostgreSQL, checks the server and the role, and creates or migrates the tables. */
import { Kysely } from 'kysely'
import { systemReason } from '../../base/system-reason.ts'
import { StartError } from '../../base/start-error.ts'
import { migrate, type Migrations } from '../migrate.ts'
import { type Connections, createConnections, query } from './connect.ts'
import { createPostgresDialect } from './dialect.ts'
import * as init from './migrations/001-init.ts'

export const postgresMigrations: Migrations = { '001-init': init }

/** PostgreSQL 15 is the oldest release that is tested. */
const oldestServer = 150_000

type Settings = { url: string; connections: number; nodeName: string }

/** Migrates the tables too. @throws {StartError} in one sentence; nothing is open then */
export async function openPostgres({ url, connections: limit, nodeName }: Settings): Promise<Connections> {
  const connections = await createConnections(url, limit, nodeName)
  try {
    await assertUsable(connections)
    await migrateDatabase(connections)
    return connections
  } catch (error) {
    await connections.close()
    throw error instanceof StartError ? error : new StartError(describe(url, error), 1, { cause: error })
  }
}

type Server = { version: number; name: string; role: string; bypasses: boolean; may_create: boolean }

async function assertUsable({ nodes }: Connections): Promise<void> {
  const [server] = await query<Server>(
    nodes,
    `select current_setting('server_version_num')::integer as version, current_setting('server_version') as name,
      current_user as role, rolsuper or rolbypassrls as bypasses,
      coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) as may_create
    from pg_roles where rolname = current_user`,
  )
  const { version, name, role, bypasses, may_create: mayCreate } = server!
  if (version < oldestServer)
    throw new StartError(
      `AGENT_DATABASE_URL names a PostgreSQL ${name}, which is too old: use release 15 or later.`,
      1,
    )
  if (bypasses)
    throw new StartError(
      `The role ${role} of AGENT_DATABASE_URL is a superuser or bypasses row-level security, which separates the tenants: use a role with NOSUPERUSER NOBYPASSRLS that owns the database.`,
      1,
    )
  if (!mayCreate)
    throw new StartError(
      `The role ${role} of AGENT_DATABASE_URL may not create tables in its schema: make it the owner of the database, or grant CREATE on the schema.`,
      1,
    )
}

/** One transaction. Nodes that start at the same time wait for each other. @throws {StartError} for a database of a newer release */
async function migrateDatabase({ shared }: Connections): Promise<void> {
  const known = await query<{ exists: boolean }>(
    shared,
    `select to_regclass('kysely_migration') is not null as exists`,
  )
  const done = known[0]!.exists
    ? await query<{ name: string }>(shared, 'select name from kysely_migration order by name')
    : []
  const unknown = done.findLast(({ name }) => !Object.hasOwn(postgresMigrations, name))
  if (unknown)
    throw new StartError(
      `A newer release of identity-agent migrated the database (this release does not know ${unknown.name}); nothing was changed. Start that release.`,
      1,
    )
  if (done.length === Object.keys(postgresMigrations).length) return
  const db = new Kysely<unknown>({ dialect: createPostgresDialect(shared, { openWrite: () => undefined }) })
  await migrate(db, postgresMigrations)
}

/** Why the database cannot be used. The address is shown without the password. */
function describe(url: string, error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  // The server says it in a sentence; errors of the connection have codes.
  const isOfServer = (cause as { severity?: string }).severity !== undefined
  const reason = isOfServer ? (cause as Error).message.split('\n')[0]! : systemReason(cause)
  return `The database of AGENT_DATABASE_URL (${addressOf(url)}) cannot be used: ${reason}. Check that the server runs, and the address, role and password.`
}

function addressOf(url: string): string {
  try {
    const { host, pathname } = new URL(url)
    return `${host}${pathname}`
  } catch {
    return 'not a URL of the form postgres://role:password@host:port/database'
  }
}
