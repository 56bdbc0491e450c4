/**
 * The ownership of worker processes over the files of one data folder. Worker `k` of `n` owns the shards with
 * `shard % n === k`, as long as the daemon runs. The supervisor tells each worker the addresses of the
 * others.
 */
import { Listeners } from './listeners.ts'
import { type Ownership, type Peer, shardOf } from './ownership.ts'

export function workerOf(walletId: string, count: number): number {
  return shardOf(walletId) % count
}

/** The name of a worker, in logs, the audit log and metrics. */
export function workerName(index: number): string {
  return `worker-${index}`
}

export class WorkerOwnership implements Ownership {
  readonly name: string
  readonly startsAlone: boolean
  readonly #index: number
  readonly #names: readonly string[]
  readonly #listeners = new Listeners()
  #addresses: readonly (string | null)[] = []

  /** `startsAlone`: no other worker runs while this one starts. */
  constructor(index: number, count: number, startsAlone: boolean) {
    this.#index = index
    this.#names = Array.from({ length: count }, (_, each) => workerName(each))
    this.name = workerName(index)
    this.startsAlone = startsAlone
  }

  /** All workers: one that has ended is started again, and completes its own work first. */
  listRunning: Ownership['listRunning'] = () => Promise.resolve(this.#names)

  owns: Ownership['owns'] = (walletId) => workerOf(walletId, this.#names.length) === this.#index

  findOwner: Ownership['findOwner'] = (walletId) => {
    const index = workerOf(walletId, this.#names.length)
    return Promise.resolve(this.#peers().find(({ name }) => name === workerName(index)))
  }

  listOthers: Ownership['listOthers'] = () => this.#peers().filter(({ name }) => name !== this.name)

  onChange: Ownership['onChange'] = (listener) => this.#listeners.onChange(listener)

  /** Shards never change their owner. */
  onGain: Ownership['onGain'] = () => undefined
  onLoss: Ownership['onLoss'] = () => undefined

  /**
   * `addresses` are those of the workers' listeners, by index; null for a worker that does not serve requests
   * now.
   */
  setAddresses(addresses: readonly (string | null)[]): void {
    this.#addresses = addresses
    this.#listeners.change()
  }

  #peers(): Peer[] {
    return this.#addresses.flatMap((address, index) =>
      address === null ? [] : [{ name: workerName(index), address }],
    )
  }
}
