/** The shards that this node owns, as far as it knows: until its lease ends by its own clock. */
import { steadyNow } from '../foundation/clock.ts'
import { NotOwnerError } from '../foundation/storage/not-owner-error.ts'
import type { Claim } from '../foundation/storage/postgres/databases.ts'
import type { ShardRow } from './lease-table.ts'
import { shardOf } from './ownership.ts'

export class Claims {
  readonly #node: string
  /** The epochs by shard. */
  readonly #epochs = new Map<number, number>()
  /** Shards that are being given up: work under way may still write. */
  readonly #releasing = new Set<number>()
  /** When the lease ends, by `steadyNow`. */
  endsAt = 0

  constructor(node: string) {
    this.#node = node
  }

  get isHeld(): boolean {
    return steadyNow() < this.endsAt
  }

  owns = (walletId: string): boolean => {
    const shard = shardOf(walletId)
    return this.#epochs.has(shard) && !this.#releasing.has(shard) && this.isHeld
  }

  /** The right to write to a wallet. @throws {NotOwnerError} */
  claimOf(walletId: string): Claim {
    const shard = shardOf(walletId)
    const epoch = this.#epochs.get(shard)
    if (epoch === undefined || !this.isHeld) throw new NotOwnerError(walletId)
    return { shard, node: this.#node, epoch }
  }

  /** Marks shards that are given up, and returns them: all, or the given number of them. */
  beginRelease(count = Infinity): number[] {
    const kept = [...this.#epochs.keys()].filter((shard) => !this.#releasing.has(shard))
    const released = kept.slice(Math.max(0, kept.length - count))
    for (const shard of released) this.#releasing.add(shard)
    return released
  }

  endRelease(shards: readonly number[], isReleased: boolean): void {
    for (const shard of shards) {
      this.#releasing.delete(shard)
      if (isReleased) this.#epochs.delete(shard)
    }
  }

  isReleasing(shard: number): boolean {
    return this.#releasing.has(shard)
  }

  /** Drops the claims that the rows do not confirm. @returns whether there were any */
  dropLost(rows: readonly ShardRow[]): boolean {
    const lost = [...this.#epochs].filter(([shard, epoch]) => {
      const row = rows[shard]
      return row?.node !== this.#node || row.epoch !== epoch
    })
    for (const [shard] of lost) this.#epochs.delete(shard)
    return lost.length > 0
  }

  /** Adds what the rows say. @returns whether there was anything to add */
  addGained(rows: readonly ShardRow[]): boolean {
    const gained = rows.filter(({ id, node, epoch }) => node === this.#node && this.#epochs.get(id) !== epoch)
    for (const { id, epoch } of gained) this.#epochs.set(id, epoch)
    return gained.length > 0
  }

  clear(): void {
    this.#epochs.clear()
  }
}
