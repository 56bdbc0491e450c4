/** An owner of all shards of a database, without leases. */
import type { Pool } from 'pg'
import { shardOf, soleOwnership } from '../../../../src/cluster/ownership.ts'

/** Takes all shards over: claims of earlier owners are refused from now on. */
export async function takeAll(nodes: Pool) {
  const node = crypto.randomUUID()
  await nodes.query('update shard set node = $1, epoch = epoch + 1', [node])
  const { rows } = await nodes.query<{ epoch: number }>('select max(epoch) as epoch from shard')
  const { epoch } = rows[0]!
  return { ...soleOwnership, claimOf: (walletId: string) => ({ shard: shardOf(walletId), node, epoch }) }
}
