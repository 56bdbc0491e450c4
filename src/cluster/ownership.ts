/**
 * Ownership: which process may open and write a wallet. Each wallet belongs to one of 256 shards, and each
 * shard to one process at a time.
 *
 * An agent over SQLite files is one process, which owns all shards. Nodes over PostgreSQL hold leases
 * (`leases.ts`).
 */
import { createHash } from 'node:crypto'
import { newId } from '../foundation/id.ts'

export const shardCount = 256

/** The shard of a wallet: the first byte of the SHA-256 of its id. */
export function shardOf(walletId: string): number {
  return createHash('sha256').update(walletId).digest()[0]!
}

/**
 * The mediator and rotations of the master key belong to one process, as a wallet with this id does: to the
 * owner of shard 0.
 */
export const mediatorId = 'mediator-381'

/** A process that owns shards. `address` is that of its internal listener, `host:port`. */
export type Peer = { name: string; address: string }

/** Its functions need no `this`. */
export type Ownership = {
  /** The name of the node, by which others of the same data know it. Empty over SQLite files. */
  readonly name: string
  /** The names of all processes that may run now. A name that is missing belongs to a process that has ended. */
  listRunning: () => Promise<readonly string[]>
  /** Whether this process owns the wallet now. */
  owns: (walletId: string) => boolean
  /** Another process that owns the wallet. Undefined if there is none now; a take-over may be under way. */
  findOwner: (walletId: string) => Promise<Peer | undefined>
  /** The other processes that serve requests now. */
  listOthers: () => readonly Peer[]
  /** Calls `listener` when this process begins to own shards. Their wallets may have jobs that wait. */
  onGain: (listener: (owns: (walletId: string) => boolean) => void) => void
  /**
   * Calls `listener` when this process has lost shards. Another process may own them when all listeners have
   * resolved, or already.
   */
  onLoss: (listener: (owns: (walletId: string) => boolean) => Promise<void>) => void
  /**
   * Calls `listener` when the owners that this process knows have changed. Returns the function that removes
   * it.
   */
  onChange: (listener: () => void) => () => void
}

/** A process with one of 256 shards finds an id of its own in so many draws, but for one time in e^16. */
const maxDraws = 4_096

/** A new id of a wallet that this process owns, if it owns any. */
export function newOwnId({ owns }: Ownership): string {
  let id = newId()
  for (let draws = 1; !owns(id) && draws < maxDraws; draws++) id = newId()
  return id
}

/** The ownership of an agent of one process. */
export const soleOwnership: Ownership = {
  name: '',
  listRunning: () => Promise.resolve(['']),
  owns: () => true,
  findOwner: () => Promise.resolve(undefined),
  listOthers: () => [],
  onGain: () => undefined,
  onLoss: () => undefined,
  onChange: () => () => undefined,
}
