/**
 * Checks the nodes over one database: their leases, the shards, their releases, and whether this node reaches
 * the others.
 */
import { type NodeRow, readNodes, readShards } from '../../cluster/lease-table.ts'
import { shardCount } from '../../cluster/ownership.ts'
import { openNodes } from '../../foundation/storage/postgres/databases.ts'
import { formatDuration, type Finding } from './check.ts'
import type { Database } from './database.ts'

/**
 * The node that examines. `greet` calls the internal address of another one, with the key of the nodes.
 *
 * @throws the reason why it cannot be reached
 */
export type Self = { name: string; greet: (address: string) => Promise<void> }

export async function checkNodes({ connections }: Database, self?: Self): Promise<Finding> {
  const db = openNodes(connections)
  const [nodes, shards] = await Promise.all([readNodes(db), readShards(db)])
  const running = nodes.filter(({ remainingMs }) => remainingMs > 0)
  const unreachable = await findUnreachable(running, self)
  return judgeNodes({ nodes, owners: shards.map(({ node }) => node), unreachable })
}

type Unreachable = { node: NodeRow; reason: string }

async function findUnreachable(running: readonly NodeRow[], self: Self | undefined): Promise<Unreachable[]> {
  if (!self) return []
  const others = running.filter(({ name }) => name !== self.name)
  const results = others.map((node) =>
    self.greet(node.address).then(
      () => [],
      (error: Error) => [{ node, reason: error.message }],
    ),
  )
  return (await Promise.all(results)).flat()
}

type Facts = {
  nodes: readonly NodeRow[]
  owners: readonly (string | null)[]
  unreachable: readonly Unreachable[]
}

export function judgeNodes({ nodes, owners, unreachable }: Facts): Finding {
  const running = nodes.filter(({ remainingMs }) => remainingMs > 0)
  const ended = nodes.filter(({ remainingMs }) => remainingMs <= 0)
  const [lost] = unreachable
  if (lost)
    return {
      status: 'failed',
      detail: `${nameOf(lost.node)} cannot be reached from this node: ${lost.reason}. Requests for its wallets that arrive here get 503.`,
      hint: `AGENT_NODE_ADDRESS=<an address that the other nodes reach> agent daemon start   # on ${lost.node.name}; check the firewall between both`,
    }
  if (ended.length > 0)
    return {
      status: 'warning',
      detail: `${ended.map((node) => `The lease of the node ${node.name} ended ${formatDuration(-node.remainingMs)} ago.`).join(' ')} It was killed or paused, or cannot reach the database; other nodes work on its wallets.`,
      hint: `agent daemon logs   # on ${ended[0]!.name}; a node that is stopped for good is not listed after ten minutes`,
    }
  if (running.length === 0) return { status: 'ok', detail: 'No node runs.' }
  const ownerless = owners.filter((owner) => !running.some(({ id }) => id === owner)).length
  if (ownerless > 0)
    return {
      status: 'warning',
      detail: `${ownerless} of ${shardCount} shards have no owner: their wallets cannot be used. A take-over takes the time of a lease at most.`,
      hint: 'agent node list   # again after that time; then agent daemon logs',
    }
  return { status: 'ok', detail: [describeRunning(running, owners), ...describeReleases(running)].join(' ') }
}

function describeRunning(running: readonly NodeRow[], owners: readonly (string | null)[]): string {
  const each = running.map(({ id, name, isDraining }) => {
    const shards = owners.filter((owner) => owner === id).length
    return `${name} has ${shards} of ${shardCount} shards${isDraining ? ' and is being drained' : ''}`
  })
  return `${running.length} ${running.length === 1 ? 'node runs' : 'nodes run'}: ${each.join(', ')}.`
}

function describeReleases(running: readonly NodeRow[]): string[] {
  const releases = [...new Set(running.map(({ release }) => release))].toSorted()
  return releases.length > 1 ? [`Their releases differ: ${releases.join(', ')}.`] : []
}

function nameOf({ name, address }: NodeRow): string {
  return `The node ${name} at ${address}`
}
