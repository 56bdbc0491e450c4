/** Nodes of one agent, as processes of the built program over one database. */
import { createClient, type Client } from '../../daemon/client/client.ts'
import { createTenant, type Tenant } from '../support/api.ts'
import { Daemon } from '../support/daemon.ts'
import type { Server } from '../support/postgres.ts'
import { openServer as openUsual } from '../support/shared-postgres.ts'
import { type Clock, openClock } from './_clock.ts'
import { openLink, type Link } from './_link.ts'

const masterKey = Buffer.alloc(32, 7).toString('base64url')

export type Nodes = AsyncDisposable & {
  readonly server: Server
  /** The URL of the database. */
  readonly database: string
  readonly daemons: Daemon[]
  /** The networks of the nodes to the database, with `hasLinks`. They lead to the present primary. */
  readonly links: Link[]
  /** The system clocks of the nodes, with `hasClocks`. */
  readonly clocks: Clock[]
  /** Starts one more node. */
  add(name: string): Promise<Daemon>
  /** A tenant whose calls go to all nodes by turns. */
  newTenant(name: string): Promise<Tenant>
  /** Rows of the database, read as the superuser. */
  read<Row>(statement: string): Promise<Row[]>
}

type Setup = {
  hasLinks?: boolean
  hasClocks?: boolean
  /** Starts the database. */
  openServer?: () => Promise<Server>
  /** The program of the nodes, by default that of this build. */
  program?: string | undefined
}

export async function startNodes(
  names: readonly string[],
  more: Record<string, string> = {},
  { hasLinks = false, hasClocks = false, openServer = openUsual, program }: Setup = {},
): Promise<Nodes> {
  const server = await openServer()
  const database = await server.createDatabase()
  const daemons: Daemon[] = []
  const links: Link[] = []
  const clocks: Clock[] = []

  async function add(name: string): Promise<Daemon> {
    const [first] = daemons
    const url = new URL(database)
    if (hasLinks) {
      const link = await openLink(() => server.port)
      links.push(link)
      url.port = String(link.port)
    }
    const clock = hasClocks ? await openClock() : undefined
    if (clock) clocks.push(clock)
    const env = {
      AGENT_DATABASE_URL: url.href,
      AGENT_NODE_NAME: name,
      AGENT_LEASE_SECONDS: '2',
      AGENT_MASTER_KEY: masterKey,
      // Peers call the node that the public URL names, and that one forwards.
      ...(first && { REST_SERVICE_URL: first.url, DIDCOMM_SERVICE_URL: first.didcommUrl }),
      ...clock?.env,
      ...more,
    }
    const daemon = await Daemon.start(env, [], program)
    daemons.push(daemon)
    return daemon
  }

  for (const name of names) await add(name)
  return {
    server,
    database,
    daemons,
    links,
    clocks,
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
      await Promise.all([...links, ...clocks].map((each) => each[Symbol.asyncDispose]()))
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
