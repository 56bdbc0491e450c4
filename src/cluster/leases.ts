/**
 * Leases over PostgreSQL decide which node owns which shards.
 *
 * The lease is on the node's row, so that one statement renews it for all shards, after a third of its time.
 * The row of a shard has the owner and the epoch, which every transaction that writes to a wallet checks
 * (`fence`). A node stops to use its wallets when its lease ends by its own steady clock, counted from before
 * the renewal. It may write them again if no other node has taken the shards over.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { steadyNow } from '../foundation/clock.ts'
import { newId } from '../foundation/id.ts'
import type { Log } from '../foundation/log.ts'
import { StartError } from '../foundation/start-error.ts'
import type { Connections } from '../foundation/storage/postgres/connect.ts'
import { type Claim, openNodes } from '../foundation/storage/postgres/databases.ts'
import { planChange } from './assignment.ts'
import { Claims } from './claims.ts'
import * as table from './lease-table.ts'
import { Listeners } from './listeners.ts'
import { type Ownership, shardOf } from './ownership.ts'
import { Ticker } from './ticker.ts'

export type LeaseOptions = {
  connections: Connections
  name: string
  address: string
  release: string
  leaseSeconds: number
  log: Log
}

/**
 * Renewals in the time of a lease, and milliseconds after the end of another one's lease at which its shards
 * are taken.
 */
const [renewals, endedMs] = [3, 20]

export class Leases implements Ownership {
  readonly #options: LeaseOptions
  readonly #db: table.NodeDb
  readonly #id = newId()
  readonly #listeners = new Listeners()
  readonly #claims = new Claims(this.#id)
  #nodes: table.NodeRow[] = []
  #shards: table.ShardRow[] = []
  readonly #ticker = new Ticker(() => this.#tick())
  #expiry: NodeJS.Timeout | undefined
  /** Resolves when the wallets of lost shards are closed. */
  #closing: Promise<void> | undefined
  #isStopping = false

  private constructor(options: LeaseOptions) {
    this.#options = options
    this.#db = openNodes(options.connections)
  }

  /**
   * Registers the node and takes its share of the shards.
   *
   * @throws {StartError} when another node has the name
   */
  static async open(options: LeaseOptions): Promise<Leases> {
    const leases = new Leases(options)
    const earlier = await leases.#register()
    // After a crash, the lease of the earlier process has not ended yet.
    if (earlier) await sleep(earlier.remainingMs + endedMs)
    const running = earlier && (await leases.#register())
    if (running)
      throw new StartError(
        `A node with the name ${options.name} runs at ${running.address}. Set AGENT_NODE_NAME to another name, or stop that node.`,
        5,
      )
    await leases.#ticker.wake()
    return leases
  }

  get name(): string {
    return this.#options.name
  }

  listRunning: Ownership['listRunning'] = async () =>
    (await table.readNodes(this.#db)).filter((node) => node.remainingMs > 0).map((node) => node.name)

  findOwner: Ownership['findOwner'] = (walletId) => {
    const owner = this.#shards[shardOf(walletId)]?.node
    return Promise.resolve(this.#nodes.find(({ id }) => id === owner && id !== this.#id))
  }

  listOthers: Ownership['listOthers'] = () =>
    this.#nodes.filter(({ id, remainingMs }) => id !== this.#id && remainingMs > 0)

  owns: Ownership['owns'] = (walletId) => this.#claims.owns(walletId)
  /** Whether the node has renewed its lease in time. */
  isHeld = (): boolean => this.#claims.isHeld
  onGain: Ownership['onGain'] = (listener) => this.#listeners.onGain(listener)
  onLoss: Ownership['onLoss'] = (listener) => this.#listeners.onLoss(listener)
  onChange: Ownership['onChange'] = (listener) => this.#listeners.onChange(listener)

  /** The right to write to a wallet. @throws {NotOwnerError} */
  claimOf = (walletId: string): Claim => this.#claims.claimOf(walletId)

  /** Whether the node gives its shards up. */
  isDraining = (): boolean =>
    this.#isStopping || (this.#nodes.find(({ id }) => id === this.#id)?.isDraining ?? false)

  /** Reads the owners again: another node has changed them. */
  refresh(): void {
    void this.#ticker.wake()
  }

  /** All nodes, with the number of their shards. @throws {Problem} 503 while the database is away */
  async list(): Promise<(table.NodeRow & { shards: number; isSelf: boolean })[]> {
    const [nodes, shards] = await Promise.all([table.readNodes(this.#db), table.readShards(this.#db)])
    return nodes.map((node) => ({
      ...node,
      shards: shards.filter((shard) => shard.node === node.id).length,
      isSelf: node.id === this.#id,
    }))
  }

  /** Has a node give up its shards, or take its share again. @returns false if no node has the name */
  async setDraining(name: string, isDraining: boolean): Promise<boolean> {
    const isKnown = await table.setDraining(this.#db, name, isDraining)
    this.refresh()
    return isKnown
  }

  /** Gives the shards to the other nodes, if there are any. The work under way with the wallets ends first. */
  async drain(): Promise<void> {
    this.#isStopping = true
    // The lease is renewed until the work under way has ended.
    await this.#ticker.wake()
    if (!this.#nodes.some(({ id, remainingMs }) => id !== this.#id && remainingMs > 0)) return
    await table
      .setDraining(this.#db, this.name, true)
      .then(() => this.#release(this.#claims.beginRelease()))
      .catch((error: unknown) =>
        this.#options.log.warn({ err: error }, 'this node keeps its shards until its lease ends'),
      )
  }

  /**
   * Ends the renewals, and gives up all shards. If the database does not answer, the others take them when
   * the lease has ended.
   */
  async close(): Promise<void> {
    this.#isStopping = true
    await this.#ticker.stop()
    clearTimeout(this.#expiry)
    await table.unregister(this.#db, this.#id).catch(() => undefined)
  }

  /** @returns the node that runs under the same name, if there is one */
  async #register(): Promise<table.NodeRow | undefined> {
    const { name, address, release, leaseSeconds } = this.#options
    const startedAt = steadyNow()
    const running = await table.register(this.#db, { id: this.#id, name, address, release, leaseSeconds })
    if (!running) this.#claims.endsAt = startedAt + leaseSeconds * 1_000
    return running
  }

  /** Renews the lease, and takes or gives up shards. @returns when to do so next */
  async #tick(): Promise<number> {
    const { leaseSeconds, log } = this.#options
    const intervalMs = (leaseSeconds * 1_000) / renewals
    const startedAt = steadyNow()
    try {
      if (!(await table.renew(this.#db, this.#id, leaseSeconds)) && (await this.#register()))
        throw new Error(`another node has the name ${this.name}`)
      this.#claims.endsAt = startedAt + leaseSeconds * 1_000
      this.#watchEnd()
      await (this.#isStopping ? this.#read() : this.#rebalance())
    } catch (error) {
      if (!this.#isStopping) log.warn({ err: error }, 'the lease of this node could not be renewed')
      return startedAt + Math.min(intervalMs, 500)
    }
    const ends = this.#nodes
      .filter(({ id, remainingMs }) => id !== this.#id && remainingMs > 0)
      .map(({ remainingMs }) => remainingMs + endedMs)
    return Math.min(startedAt + intervalMs, steadyNow() + Math.min(...ends))
  }

  /** Until no shard is left to take. */
  async #rebalance(): Promise<void> {
    for (;;) {
      await this.#read()
      const running = this.#nodes.filter(({ remainingMs }) => remainingMs > 0)
      const shards = this.#shards.map(({ id, node }) => ({
        id,
        owner: this.#claims.isReleasing(id) ? '' : running.find((each) => each.id === node)?.id,
      }))
      const { take, releaseCount } = planChange(this.#id, running, shards)
      if (releaseCount > 0) void this.#release(this.#claims.beginRelease(releaseCount))
      if (take.length === 0) return
      const taken = await table.take(this.#db, this.#id, take)
      if (taken.length === 0) return
    }
  }

  /** Reads nodes and shards, and follows what has changed. */
  async #read(): Promise<void> {
    const before = JSON.stringify(this.#shards)
    const [nodes, shards] = await Promise.all([table.readNodes(this.#db), table.readShards(this.#db)])
    this.#nodes = nodes
    this.#shards = shards
    if (nodes.some(({ remainingMs }) => remainingMs < 0)) await table.deleteEnded(this.#db)
    if (this.#claims.dropLost(shards)) this.#lose()
    // Wallets of an earlier epoch close before they are opened again. Renewals do not wait for it.
    void (this.#closing ? this.#closing.then(() => this.#gain()) : this.#gain())
    if (JSON.stringify(shards) !== before) this.#listeners.change()
  }

  #gain(): void {
    if (this.#claims.addGained(this.#shards)) this.#listeners.gain(this.#claims.owns)
  }

  /** Closes the wallets that this node does not own any more. */
  #lose(): void {
    const earlier = this.#closing
    const closing = Promise.all([earlier, this.#listeners.lose(this.#claims.owns)]).then(() => {
      if (this.#closing === closing) this.#closing = undefined
    })
    this.#closing = closing
  }

  /** Gives shards up. Work under way with the wallets ends first, for the time of a lease at most. */
  async #release(shards: readonly number[]): Promise<void> {
    if (shards.length === 0) return
    let isReleased = false
    const ended = new AbortController()
    try {
      await Promise.race([
        this.#listeners.lose(this.#claims.owns),
        sleep(this.#options.leaseSeconds * 1_000, undefined, { signal: ended.signal }),
      ])
      await table.release(this.#db, this.#id, shards)
      isReleased = true
    } catch (error) {
      this.#options.log.warn({ err: error }, 'shards could not be given up')
    } finally {
      ended.abort()
      this.#claims.endRelease(shards, isReleased)
      this.refresh()
    }
  }

  /** Closes the wallets when the lease ends without a renewal. */
  #watchEnd(): void {
    clearTimeout(this.#expiry)
    if (this.#isStopping) return
    this.#expiry = setTimeout(() => {
      if (this.#claims.isHeld) return this.#watchEnd()
      this.#options.log.error('the lease of this node has ended: it uses no wallets')
      this.#claims.clear()
      this.#lose()
      this.#listeners.change()
    }, this.#claims.endsAt - steadyNow())
    this.#expiry.unref()
  }
}
