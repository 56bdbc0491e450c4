/** How many of the shards each node owns, and which it takes and releases. */
import { shardCount } from './ownership.ts'

/** A node as all nodes see it. */
export type Member = { id: string; isDraining: boolean }

/** A shard, and its owner if that one's lease lasts. */
export type Shard = { id: number; owner: string | undefined }

/** The shards that a node takes from nobody, and how many of its own it gives up. */
export type Change = { take: number[]; releaseCount: number }

/**
 * The next step of a node. All nodes compute the same shares, so that they need no coordinator: 256 shards
 * divided by the nodes that are not draining, in the order of their ids. The first nodes get one more if
 * there is a rest. A single node keeps its shards even while it drains.
 */
export function planChange(self: string, members: readonly Member[], shards: readonly Shard[]): Change {
  const remaining = members.filter(({ isDraining }) => !isDraining)
  const sharing = (remaining.length > 0 ? remaining : members).map(({ id }) => id).toSorted()
  const rank = sharing.indexOf(self)
  const share = rank === -1 ? 0 : sizeOfShare(rank, sharing.length)
  const owned = shards.filter(({ owner }) => owner === self).length
  const free = shards.filter(({ owner }) => owner === undefined).map(({ id }) => id)
  // Nodes that take shards at the same time begin at different ones.
  const start = Math.floor((Math.max(rank, 0) * shardCount) / sharing.length)
  const inOrder = [...free.filter((id) => id >= start), ...free.filter((id) => id < start)]
  return { take: inOrder.slice(0, Math.max(0, share - owned)), releaseCount: Math.max(0, owned - share) }
}

function sizeOfShare(rank: number, count: number): number {
  return Math.floor(shardCount / count) + (rank < shardCount % count ? 1 : 0)
}
