/**
 * Checks whether the database allows as many connections as the nodes make, and whether its notifications
 * arrive.
 */
import { deliversNotifications } from '../../cluster/notifications.ts'
import { readNodes } from '../../cluster/lease-table.ts'
import { openNodes } from '../../foundation/storage/postgres/databases.ts'
import { query } from '../../foundation/storage/postgres/connect.ts'
import type { Finding } from './check.ts'
import type { Database } from './database.ts'

/** Limits of -1 do not limit. */
type Limits = { total: number; reserved: number; ofRole: number; ofDatabase: number; used: number }

/** `perNode` is AGENT_DATABASE_CONNECTIONS, which all nodes have in common. */
export async function checkConnections(database: Database, perNode: number): Promise<Finding> {
  const { connections, server, migrations } = database
  const [limits] = await query<Limits>(
    connections.nodes,
    `select current_setting('max_connections')::integer as total,
      current_setting('superuser_reserved_connections')::integer
        + coalesce(current_setting('reserved_connections', true)::integer, 0) as reserved,
      rolconnlimit as "ofRole", datconnlimit as "ofDatabase",
      (select count(*) from pg_stat_activity where backend_type = 'client backend') as used
    from pg_roles, pg_database where rolname = current_user and datname = current_database()`,
  )
  const nodes = migrations.missing > 0 ? [] : await readNodes(openNodes(connections))
  const running = Math.max(1, nodes.filter(({ remainingMs }) => remainingMs > 0).length)
  const arrives = await isNotified(database)
  return judgeConnections({
    ...limits!,
    nodes: running,
    perNode,
    arrives,
    role: server.role,
    database: server.database,
  })
}

type Facts = Limits & { nodes: number; perNode: number; arrives: boolean; role: string; database: string }

export function judgeConnections(facts: Facts): Finding {
  const { total, reserved, ofRole, ofDatabase, used, nodes, perNode, arrives, role, database } = facts
  // One more for notifications.
  const needed = nodes * (perNode + 1)
  const limits = [
    {
      most: total - reserved,
      name: 'max_connections of the server, less the reserved ones',
      repair: `alter system set max_connections = ${needed + reserved}   -- as a superuser; then restart PostgreSQL`,
    },
    {
      most: ofRole,
      name: `the limit of the role ${role}`,
      repair: `alter role ${role} connection limit ${needed}   -- as a superuser`,
    },
    {
      most: ofDatabase,
      name: `the limit of the database ${database}`,
      repair: `alter database ${database} connection limit ${needed}   -- as its owner`,
    },
  ].filter(({ most }) => most >= 0)
  const least = limits.toSorted((a, b) => a.most - b.most)[0]!
  const use = `${nodes} ${nodes === 1 ? 'node makes' : 'nodes make'} up to ${needed} connections (AGENT_DATABASE_CONNECTIONS and one for notifications)`
  if (least.most < needed)
    return {
      status: 'warning',
      detail: `${use}, and ${least.name}, allows ${least.most}: requests get 503 when they are used up.`,
      hint: `${least.repair}, or set AGENT_DATABASE_CONNECTIONS to ${Math.max(8, Math.floor(least.most / nodes) - 1)}`,
    }
  const notified = arrives
    ? 'Notifications arrive.'
    : 'Notifications do not arrive, as behind a pooler: the nodes read the versions of their caches twice a second.'
  return { status: 'ok', detail: `${use}; ${least.most} are allowed, ${used} are open. ${notified}` }
}

async function isNotified({ connections }: Database): Promise<boolean> {
  const client = connections.createClient()
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await deliversNotifications(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}
