/** Nodes of one agent, as processes of the built program over one database. */
import { createClient, type Client } from '../../daemon/client/client.ts'
import { createTenant, type Tenant } from '../_api.ts'
import { Daemon } from '../_daemon.ts'
import { startPostgres, type Postgres } from '../_postgres.ts'
import { openLink, type Link } from './_link.ts'

const masterKey = Buffer.alloc(32, 7).toString('base64url')

export type Nodes = AsyncDisposable & {
  readonly server: Postgres
  /** The URL of the database. */
  readonly database: string
  readonly daemons: Daemon[]
  /** The networks of the nodes to the database, with `hasLinks`. */
  readonly links: Link[]
  /** Starts one more node. */
  add(name: string): Promise<Daemon>
  /** A tenant whose calls go to all nodes by turns. */
  newTenant(name: string): Promise<Tenant>
  /** Rows of the database, read as the superuser. */
  read<Row>(statement: string): Promise<Row[]>
}

export async function startNodes(
  names: readonly string[],
  more: Record<string, string> = {},
  { hasLinks = false } = {},
): Promise<Nodes> {
  const server = await startPostgres()
  const database = await server.createDatabase()
  const daemons: Daemon[] = []
  const links: Link[] = []

  async function add(name: string): Promise<Daemon> {
    const [first] = daemons
    const url = new URL(database)
    if (hasLinks) {
      const link = await openLink(server.port)
      links.push(link)
      url.port = String(link.port)
    }
    const daemon = await Daemon.start({
      AGENT_DATABASE_URL: url.href,
      AGENT_NODE_NAME: name,
      AGENT_LEASE_SECONDS: '2',
      AGENT_MASTER_KEY: masterKey,
      // Peers call the node that the public URL names, and that one forwards.
      ...(first && { REST_SERVICE_URL: first.url, DIDCOMM_SERVICE_URL: first.didcommUrl }),
      ...more,
    })
    daemons.push(daemon)
    return daemon
  }

  for (const name of names) await add(name)
  return {
    server,
    database,
    daemons,
    links,
    add,
    async newTenant(name) {
      const { url } = daemons[0]!
      const tenant = await createTenant(url, name)
      return { ...tenant, call: byTurns(daemons, tenant.apiKey) }
    },
    read: async <Row>(statement: string) =>
      (await server.asSuperuser(new URL(database).pathname.slice(1), statement)).rows as Row[],
    async [Symbol.asyncDispose]() {
      await Promise.all(daemons.map((daemon) => daemon[Symbol.asyncDispose]()))
      await Promise.all(links.map((link) => link[Symbol.asyncDispose]()))
      await server[Symbol.asyncDispose]()
    },
  }
}

/** A client whose calls go to the nodes by turns. */
function byTurns(daemons: readonly Daemon[], apikey: string): Client {
  let turn = 0
  const call = (...given: Parameters<Client>) => {
    const { url } = daemons[turn++ % daemons.length]!
    return createClient(url, { apikey })(...given)
  }
  return call as Client
}
