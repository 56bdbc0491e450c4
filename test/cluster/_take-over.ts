/** The time from the end of a node until another one answers for its wallets. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../daemon/client/client.ts'
import { shardOf } from '../../src/cluster/ownership.ts'
import type { Tenant } from '../support/api.ts'
import type { Daemon } from '../support/daemon.ts'
import type { Nodes } from './_nodes.ts'

/** A tenant whose wallet the node owns. Undefined if there is none. */
export async function findTenantOf(
  nodes: Nodes,
  name: string,
  tenants: readonly Tenant[],
): Promise<Tenant | undefined> {
  const rows = await nodes.read<{ shard: number }>(
    `select shard.id as shard from shard join node on node.id = shard.node where node.name = '${name}' and node.expires_at > now()`,
  )
  const shards = new Set(rows.map(({ shard }) => shard))
  return tenants.find(({ walletId }) => shards.has(shardOf(walletId)))
}

/**
 * Resolves with the milliseconds until a request of the tenant succeeds at one of the nodes, which are asked
 * by turns.
 */
export async function timeUntilAnswer({ apiKey }: Tenant, others: readonly Daemon[]): Promise<number> {
  const begunAt = performance.now()
  for (let turn = 0; ; turn++) {
    const call = createClient(others[turn % others.length]!.url, { apikey: apiKey })
    const isAnswered = await call('GET /connections', { query: { limit: 1 } }).then(
      () => true,
      () => false,
    )
    if (isAnswered) return Math.round(performance.now() - begunAt)
    await sleep(50)
  }
}
