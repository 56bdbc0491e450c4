/**
 * The worker: sends queued messages, runs queued tasks, delivers events to webhooks and ends flows that expire.
 *
 * After a commit it polls the wallet's file for due jobs and due deliveries, starts as many as the limits allow, and sleeps until the next one is due.
 * Jobs of one queue, and events for one webhook, run one at a time and in order. The file is the only state that counts: a job that a crash interrupts
 * runs again, and the receiver drops the duplicate.
 */
import { setTimeout as wait } from 'node:timers/promises'
import PQueue from 'p-queue'
import { steadyNow } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { dueDeliveries, type Delivery } from '../events/deliveries.ts'
import { WebhookSlots } from '../events/webhook-slots.ts'
import { CrowdedError } from '../net/destinations.ts'
import type { Db } from '../storage/database.ts'
import { isTransferred } from '../storage/transferred.ts'
import type { Changes } from '../storage/tx-context.ts'
import type { Handlers } from './handlers.ts'
import { dueJobs } from './job.ts'
import { freeSlots, isRunning, newWalletState, nextPollAt, type WalletState } from './wallet-state.ts'

/** Jobs that run at a time, of all wallets. */
const jobLimit = 256

/** Wallets that are polled at a time after a start. */
const resumeLimit = 16

/** How long a stop waits for jobs that are running. */
const stopTimeoutMs = 2_000

/** The pause after a wallet could not be read or written: the first, and the longest. */
const firstPauseMs = 500
const longestPauseMs = 300_000

/** The longest delay that `setTimeout` takes; it fires a longer one at once. */
const longestTimerMs = 2 ** 31 - 1

/** How long the time of the next expiry is relied on: the system clock may be set meanwhile. */
const expiryTtlMs = 3_600_000

type Wallets<Wallet> = {
  ids(): Promise<string[]>
  use<T>(id: string, work: (wallet: Wallet) => Promise<T>): Promise<T>
}

export class Worker<Wallet extends { readonly id: string; readonly db: Db }> {
  readonly #wallets: Wallets<Wallet>
  readonly #handlers: Handlers<Wallet>
  readonly #log: Log
  readonly #states = new Map<string, WalletState>()
  readonly #jobs = new PQueue({ concurrency: jobLimit })
  readonly #slots: WebhookSlots
  readonly #polls = new Set<Promise<void>>()
  #isStopped = false

  constructor(wallets: Wallets<Wallet>, handlers: Handlers<Wallet>, log: Log, slots = new WebhookSlots()) {
    this.#wallets = wallets
    this.#handlers = handlers
    this.#log = log
    this.#slots = slots
  }

  /** Has a wallet polled for what has changed; without `changes` for everything, expired flows included. */
  wake(walletId: string, changes?: Changes): void {
    if (this.#isStopped) return
    const state = this.#stateOf(walletId)
    if (!changes) state.expiryCheckedAt = -Infinity
    void this.#poll(walletId, state, changes ?? { jobs: true, events: true })
  }

  /** The ids of wallets with jobs or deliveries that are running, rescheduled, or could not be read. */
  busy(): string[] {
    const isScheduled = ({ failures, jobsAt, deliveriesAt }: WalletState) =>
      failures > 0 || Math.min(jobsAt, deliveriesAt) < Infinity
    return [...this.#states].filter(([, state]) => isRunning(state) || isScheduled(state)).map(([id]) => id)
  }

  /** Polls every wallet once, a few at a time: a crash may have left jobs and deliveries. Resolves when the polls have begun. */
  async resume(): Promise<void> {
    const ids = (await this.#wallets.ids()).values()
    const pollNext = async () => {
      for (const id of ids)
        if (!this.#isStopped) await this.#poll(id, this.#stateOf(id), { jobs: true, events: true })
    }
    for (let n = 0; n < resumeLimit; n++) void pollNext()
  }

  /** Starts nothing more, and waits up to two seconds for what is running; the next start repeats what takes longer. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    for (const { timer } of this.#states.values()) clearTimeout(timer)
    this.#jobs.clear()
    this.#slots.clear()
    await Promise.race([this.#onIdle(), wait(stopTimeoutMs, undefined, { ref: false })])
  }

  async #onIdle(): Promise<void> {
    await Promise.all([...this.#polls, this.#jobs.onIdle(), this.#slots.onIdle()])
    await Promise.allSettled(
      [...this.#states.values()].flatMap(({ accepted }) =>
        [...accepted.values()].map(({ stored }) => stored),
      ),
    )
  }

  #stateOf(walletId: string): WalletState {
    const known = this.#states.get(walletId)
    if (known) return known
    const state = newWalletState()
    this.#states.set(walletId, state)
    return state
  }

  /** Polls a wallet; calls during a poll lead to one more. */
  async #poll(walletId: string, state: WalletState, { jobs, events }: Changes): Promise<void> {
    state.wanted = {
      jobs: jobs || state.wanted?.jobs === true,
      events: events || state.wanted?.events === true,
    }
    if (state.isPolling) return
    state.isPolling = true
    const poll = this.#pollWanted(walletId, state)
    this.#polls.add(poll)
    await poll.finally(() => this.#polls.delete(poll))
  }

  async #pollWanted(walletId: string, state: WalletState): Promise<void> {
    try {
      while (state.wanted && !this.#isStopped) {
        const { wanted } = state
        state.wanted = undefined
        await this.#wallets.use(walletId, (wallet) => this.#start(wallet, state, wanted))
      }
      state.failures = 0
    } catch (error) {
      if (isTransferred(error)) return
      this.#log.error({ err: error, walletId }, 'the worker could not poll a wallet')
      state.jobsAt = steadyNow() + Math.min(longestPauseMs, firstPauseMs * 2 ** state.failures++)
      state.deliveriesAt = state.jobsAt
    } finally {
      state.isPolling = false
      this.#sleep(walletId, state)
    }
  }

  /** Starts what is due. Expired flows come first: their jobs must not run any more. */
  async #start(wallet: Wallet, state: WalletState, { jobs, events }: Changes): Promise<void> {
    await this.#startExpired(wallet, state)
    const now = steadyNow()
    if (jobs || state.jobsAt <= now) await this.#startJobs(wallet, state)
    if (events || state.deliveriesAt <= now) await this.#startDeliveries(wallet, state)
  }

  /** Ends expired flows, if there can be any: a flow that began after the last check has its whole lifetime. */
  async #startExpired(wallet: Wallet, state: WalletState): Promise<void> {
    const now = steadyNow()
    const { flowLifetimeMs } = this.#handlers
    if (now < Math.min(state.expiryAt, state.expiryCheckedAt + Math.min(expiryTtlMs, flowLifetimeMs))) {
      state.expiryAt = Math.min(state.expiryAt, state.expiryCheckedAt + flowLifetimeMs)
      return
    }
    const limit = freeSlots(state)
    const { expired, nextAt = Infinity } = await this.#handlers.findExpired(wallet, limit + state.queues.size)
    for (const flow of expired.filter(({ queue }) => !state.queues.has(queue)).slice(0, limit))
      void this.#run(wallet.id, state, flow.queue, (opened) => this.#handlers.expire(opened, flow))
    // The end of a running job leads to the next check.
    state.expiryCheckedAt = expired.length > 0 ? -Infinity : now
    state.expiryAt = nextAt
  }

  async #startJobs({ id, db }: Wallet, state: WalletState): Promise<void> {
    const limit = freeSlots(state)
    state.jobsAt = Infinity
    if (limit === 0) return
    const { jobs, nextAt } = await dueJobs(db, new Date(steadyNow()), { busy: [...state.queues], limit })
    for (const job of jobs) void this.#run(id, state, job.queue, (wallet) => this.#handlers.job(wallet, job))
    if (nextAt) state.jobsAt = nextAt.getTime()
  }

  /** Runs a job, or ends a flow, as the only one of its queue; then polls for more. */
  async #run(
    walletId: string,
    state: WalletState,
    queue: string,
    work: (wallet: Wallet) => Promise<void>,
  ): Promise<void> {
    state.queues.add(queue)
    try {
      await this.#jobs.add(() => this.#wallets.use(walletId, work))
    } catch (error) {
      if (error instanceof CrowdedError) {
        state.crowded.add(queue)
        // The queue holds no slot while it waits.
        this.wake(walletId, { jobs: true, events: false })
        await error.free
        state.crowded.delete(queue)
      } else await this.#pause(error, { walletId, queue })
    }
    state.queues.delete(queue)
    this.wake(walletId, { jobs: true, events: false })
  }

  async #startDeliveries(wallet: Wallet, state: WalletState): Promise<void> {
    const accepted = new Map([...state.accepted].map(([id, { sequence }]) => [id, sequence]))
    const { deliveries, nextAt } = await dueDeliveries(wallet.db, wallet.id, {
      busy: [...state.webhooks],
      accepted,
    })
    for (const delivery of deliveries) void this.#deliver(wallet.id, state, delivery)
    state.deliveriesAt = nextAt?.getTime() ?? Infinity
  }

  /** Delivers an event, as the only one of its webhook; then polls for the next. */
  async #deliver(walletId: string, state: WalletState, delivery: Delivery): Promise<void> {
    const { webhookId } = delivery
    state.webhooks.add(webhookId)
    const request = () =>
      this.#wallets.use(walletId, async (wallet) => {
        const { isAccepted, stored } = await this.#handlers.deliver(wallet, delivery)
        // The next event of a replay is found by what is stored.
        if (delivery.kind === 'replay') await stored
        else if (stored) this.#remember(walletId, state, delivery, stored)
        return isAccepted
      })
    try {
      await this.#slots.run(`${walletId} ${webhookId}`, request)
    } catch (error) {
      await this.#pause(error, { walletId, webhookId })
    }
    state.webhooks.delete(webhookId)
    this.wake(walletId, { jobs: false, events: true })
  }

  /** Remembers that an event was accepted until that is stored: the next event is sent without waiting for the disk. */
  #remember(
    walletId: string,
    state: WalletState,
    { webhookId, sequence }: Delivery,
    stored: Promise<void>,
  ): void {
    state.accepted.set(webhookId, { sequence, stored })
    const forget = () => {
      if (state.accepted.get(webhookId)?.sequence === sequence) state.accepted.delete(webhookId)
      if (!isRunning(state)) this.#sleep(walletId, state)
    }
    const repeat = async (error: unknown) => {
      forget()
      await this.#pause(error, { walletId, webhookId })
      this.wake(walletId)
    }
    stored.then(forget, repeat)
    // The wallet stays open until the write is done.
    this.#wallets.use(walletId, () => stored).catch(() => undefined)
  }

  /** Logs why something could not be run or stored, and waits before it is tried again. */
  async #pause(error: unknown, about: Record<string, string>): Promise<void> {
    if (this.#isStopped || isTransferred(error)) return
    this.#log.error({ err: error, ...about }, 'a job or a delivery could not be processed')
    await wait(firstPauseMs, undefined, { ref: false })
  }

  /** Sets the timer for what is due next; forgets a wallet for which nothing is. */
  #sleep(walletId: string, state: WalletState): void {
    clearTimeout(state.timer)
    if (this.#isStopped) return
    const now = steadyNow()
    const at = nextPollAt(state, now)
    // A timer may fire up to a millisecond early.
    const delayMs = Math.min(longestTimerMs, at - now + 1)
    if (at < Infinity) state.timer = setTimeout(() => this.wake(walletId), delayMs)
    else if (!isRunning(state)) this.#states.delete(walletId)
  }
}
