/**
 * The worker: sends queued messages, runs queued tasks, delivers events to webhooks and ends expired flows.
 *
 * Commits wake it. Jobs of one queue, and events for one webhook, run one at a time and in order. Only the
 * wallets' files count: a job that a crash interrupts runs again, and the receiver drops the duplicate.
 */
import { setTimeout as wait } from 'node:timers/promises'
import PQueue from 'p-queue'
import { steadyNow } from '../../foundation/clock.ts'
import type { Log } from '../../foundation/log.ts'
import { isTemporary } from '../../foundation/problem.ts'
import { outsideSpans } from '../../foundation/spans.ts'
import type { Delivered } from '../events/deliver.ts'
import type { Delivery } from '../events/deliveries.ts'
import { WebhookSlots } from '../events/webhook-slots.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import type { ChangeTopic } from '../../foundation/storage/tx-context.ts'
import { Backlogs, type Backlog } from './backlogs.ts'
import type { Job } from './job.ts'
import { WalletWorker } from './wallet-worker.ts'

/** Jobs of all wallets that run at a time. */
const jobLimit = 256

/** Wallets that are polled at a time after a start. */
const resumeLimit = 16

/** How often the ids of the wallets are asked for while the database is away. */
const retryMs = 500

/** How long a stop waits for running jobs. */
const stopTimeoutMs = 2_000

/** An expired flow, and the queue of its jobs, which must not run while the flow ends. */
export type ExpiredFlow = { queue: string; recordId: string; protocol: string }

/**
 * The functions that the worker calls. Each stores its own result.
 *
 * @throws {UnstoredError} what the worker stores later
 */
export type Handlers<Wallet> = {
  /**
   * Processes a job: deletes it with its result, or reschedules it.
   *
   * @throws {NoFreeConnectionError} if the destination has no free connection
   */
  job(wallet: Wallet, job: Job): Promise<void>
  deliver(wallet: Wallet, delivery: Delivery): Promise<Delivered>
  /** At most `limit` expired flows, and when the next one expires (`steadyNow`, milliseconds). */
  findExpired(wallet: Wallet, limit: number): Promise<{ expired: ExpiredFlow[]; nextAt?: number | undefined }>
  expire(wallet: Wallet, flow: ExpiredFlow): Promise<void>
  flowLifetimeMs: number
}

/** What the workers of all wallets share. */
export type Shared<Wallet> = {
  readonly use: <T>(id: string, work: (wallet: Wallet) => Promise<T>) => Promise<T>
  readonly handlers: Handlers<Wallet>
  readonly log: Log
  readonly jobs: PQueue
  readonly slots: WebhookSlots
  readonly polls: Set<Promise<void>>
  readonly backlogs: Backlogs
  isStopped: boolean
  /** Polls a wallet for `changes`, or without `changes` for everything. */
  wake(walletId: string, changes?: Iterable<ChangeTopic>): void
  /** Called when nothing of a wallet is running or scheduled. */
  forget(walletId: string): void
}

type Wallets<Wallet> = {
  ids(): Promise<string[]>
  use<T>(id: string, work: (wallet: Wallet) => Promise<T>): Promise<T>
}

/** The parts of a wallet that its worker needs. */
export type WorkedWallet = {
  readonly id: string
  readonly db: Db
  transaction<T>(write: (tx: Tx) => Promise<T>): Promise<T>
}

export class Worker<Wallet extends WorkedWallet> {
  readonly #wallets: Wallets<Wallet>
  readonly #workers = new Map<string, WalletWorker<Wallet>>()
  readonly #shared: Shared<Wallet>
  #isResumed = false

  constructor(wallets: Wallets<Wallet>, handlers: Handlers<Wallet>, log: Log, slots = new WebhookSlots()) {
    this.#wallets = wallets
    this.#shared = {
      use: (id, work) => wallets.use(id, work),
      handlers,
      log,
      jobs: new PQueue({ concurrency: jobLimit }),
      slots,
      polls: new Set(),
      backlogs: new Backlogs(steadyNow),
      isStopped: false,
      wake: (id, changes) => this.wake(id, changes),
      forget: (id) => {
        this.#workers.delete(id)
        this.#shared.backlogs.forget(id)
      },
    }
  }

  /** Polls a wallet for `changes`, or without `changes` for everything, including expired flows. */
  wake(walletId: string, changes?: Iterable<ChangeTopic>): void {
    if (this.#shared.isStopped) return
    const worker = this.#workerOf(walletId)
    if (!changes) worker.checkExpiry()
    // The request whose commit wakes the worker is not the cause of all that is due.
    outsideSpans(() => void worker.poll(changes ?? ['jobs', 'events']))
  }

  backlog(): Backlog {
    return this.#shared.backlogs.total()
  }

  /** The ids of wallets with running or rescheduled jobs or deliveries, or whose last poll failed. */
  busy(): string[] {
    return [...this.#workers].filter(([, { isBusy }]) => isBusy).map(([id]) => id)
  }

  /**
   * Polls every wallet once, or those with `isWanted`, because a crash may have left jobs and deliveries.
   * Resolves when the polls have begun.
   */
  async resume(isWanted: (walletId: string) => boolean = () => true): Promise<void> {
    const ids = (await this.#findIds()).filter((id) => isWanted(id)).values()
    const pollNext = async () => {
      for (const id of ids) if (!this.#shared.isStopped) await this.#workerOf(id).poll(['jobs', 'events'])
    }
    for (let n = 0; n < resumeLimit; n++) void pollNext()
    this.#isResumed = true
  }

  /**
   * The ids of all wallets. A database that is away just after a take-over must not leave the wallets without
   * a poll.
   */
  async #findIds(): Promise<string[]> {
    while (!this.#shared.isStopped)
      try {
        return await this.#wallets.ids()
      } catch (error) {
        if (!isTemporary(error)) throw error
        await wait(retryMs, undefined, { ref: false })
      }
    return []
  }

  /** Whether the polls of `resume` have begun. */
  get isResumed(): boolean {
    return this.#isResumed
  }

  /**
   * Starts nothing more, and waits up to two seconds for running jobs. The next start repeats the ones that
   * take longer.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    const { jobs, slots } = this.#shared
    this.#shared.isStopped = true
    for (const worker of this.#workers.values()) worker.stop()
    jobs.clear()
    slots.clear()
    await Promise.race([this.#onIdle(), wait(stopTimeoutMs, undefined, { ref: false })])
  }

  async #onIdle(): Promise<void> {
    const { polls, jobs, slots } = this.#shared
    await Promise.all([...polls, jobs.onIdle(), slots.onIdle()])
    await Promise.all([...this.#workers.values()].map(({ stored }) => stored))
  }

  #workerOf(walletId: string): WalletWorker<Wallet> {
    const known = this.#workers.get(walletId)
    if (known) return known
    const worker = new WalletWorker(walletId, this.#shared)
    this.#workers.set(walletId, worker)
    return worker
  }
}
