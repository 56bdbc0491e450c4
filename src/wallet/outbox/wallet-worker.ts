/**
 * The worker of one wallet. It polls the wallet's file for due jobs, due deliveries and expired flows, starts
 * as many as the limits allow, and sleeps until the next one is due. The end of each leads to another poll.
 */
import { steadyNow } from '../../foundation/clock.ts'
import { dueDeliveries, lastOf, skip, type Delivery } from '../events/deliveries.ts'
import { NoFreeConnectionError } from '../../foundation/net/destinations.ts'
import { storeOutcome } from '../../foundation/storage/outcome.ts'
import { isElsewhere } from '../../foundation/storage/transferred.ts'
import type { ChangeTopic } from '../../foundation/storage/tx-context.ts'
import { dueJobs } from './job.ts'
import { Recovery } from './recovery.ts'
import type { Shared, WorkedWallet } from './worker.ts'

/**
 * Jobs of one wallet that run at a time, so that an unresponsive peer does not delay other tenants; queues
 * that wait for a connection.
 */
const [jobLimit, crowdedLimit] = [48, 2_000]

/** The first and the longest pause after the wallet could not be polled. */
const [firstPauseMs, longestPauseMs] = [500, 300_000]

/** The longest delay that `setTimeout` supports. It fires a longer one at once. */
const longestTimerMs = 2 ** 31 - 1

/** How long the computed time of the next expiry is used. The system clock may be set meanwhile. */
const expiryTtlMs = 3_600_000

export class WalletWorker<Wallet extends WorkedWallet> {
  readonly #id: string
  readonly #shared: Shared<Wallet>
  /** The topics that the next poll reads. Empty if no poll is needed. */
  #wanted = new Set<ChangeTopic>()
  #isPolling = false
  /** Queues in progress. */
  readonly #queues = new Set<string>()
  /**
   * Webhooks in progress, whether there may be more events for them, and whether they or their replays have
   * changed.
   */
  readonly #webhooks = new Map<string, { hasMore: boolean; isStale: boolean }>()
  /** Queues that wait for a free connection to their destination. They occupy no job slot. */
  readonly #crowded = new Set<string>()
  /** The last event that a webhook has accepted, by webhook id, until the acceptance is stored. */
  readonly #accepted = new Map<string, { sequence: number; stored: Promise<unknown> }>()
  readonly #recovery: Recovery<Wallet>
  #failures = 0
  /**
   * When the next job, delivery and expiry are due, and when expired flows were last searched (`steadyNow`,
   * milliseconds).
   */
  #jobsAt = Infinity
  #deliveriesAt = Infinity
  #expiryAt = Infinity
  #expiryCheckedAt = -Infinity
  #timer: NodeJS.Timeout | undefined

  constructor(id: string, shared: Shared<Wallet>) {
    this.#id = id
    this.#shared = shared
    this.#recovery = new Recovery(id, shared)
  }

  /** Whether jobs or deliveries are running or rescheduled, or the last poll failed. */
  get isBusy(): boolean {
    return this.#isRunning || this.#failures > 0 || Math.min(this.#jobsAt, this.#deliveriesAt) < Infinity
  }

  /** Resolves when the acceptances that are being stored are stored. */
  get stored(): Promise<unknown> {
    return Promise.allSettled([...this.#accepted.values()].map(({ stored }) => stored))
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** Searches expired flows with the next poll, even if none can be due. */
  checkExpiry(): void {
    this.#expiryCheckedAt = -Infinity
  }

  /** Polls for what has changed. A call during a poll leads to one more poll. */
  async poll(changes: Iterable<ChangeTopic>): Promise<void> {
    for (const topic of changes) {
      this.#wanted.add(topic === 'webhooks' ? 'events' : topic)
      if (topic === 'webhooks') for (const webhook of this.#webhooks.values()) webhook.isStale = true
    }
    if (this.#isPolling) return
    this.#isPolling = true
    const { polls } = this.#shared
    const poll = this.#pollWanted()
    polls.add(poll)
    await poll.finally(() => polls.delete(poll))
  }

  get #isRunning(): boolean {
    const running = this.#queues.size + this.#webhooks.size + this.#accepted.size + this.#recovery.unstored
    return this.#isPolling || running > 0 || this.#wanted.size > 0
  }

  get #freeSlots(): number {
    const [queues, crowded] = [this.#queues.size, this.#crowded.size]
    return Math.max(0, Math.min(jobLimit - (queues - crowded), crowdedLimit - crowded))
  }

  async #pollWanted(): Promise<void> {
    const { use, log } = this.#shared
    try {
      while (this.#wanted.size > 0 && !this.#shared.isStopped) {
        const wanted = this.#wanted
        this.#wanted = new Set()
        await use(this.#id, (wallet) => this.#start(wallet, wanted))
      }
      this.#failures = 0
    } catch (error) {
      const isOver = isElsewhere(error)
      if (!isOver) log.error({ err: error, walletId: this.#id }, 'the worker could not poll a wallet')
      const pauseMs = isOver ? Infinity : Math.min(longestPauseMs, firstPauseMs * 2 ** this.#failures++)
      this.#jobsAt = this.#deliveriesAt = this.#expiryAt = steadyNow() + pauseMs
    } finally {
      this.#isPolling = false
      this.#sleep()
    }
  }

  /**
   * Starts what is due, and nothing while an outcome cannot be stored. Expired flows come first, because
   * their jobs must not run any more.
   */
  async #start(wallet: Wallet, wanted: ReadonlySet<ChangeTopic>): Promise<void> {
    if (this.#recovery.unstored > 0) {
      this.#jobsAt = this.#deliveriesAt = this.#expiryAt = Infinity
      return
    }
    await this.#startExpired(wallet)
    const now = steadyNow()
    if (wanted.has('jobs') || this.#jobsAt <= now) await this.#startJobs(wallet)
    if (wanted.has('events') || this.#deliveriesAt <= now) await this.#startDeliveries(wallet)
  }

  /**
   * Ends expired flows. Skips the search while no flow can have expired: a flow that began after the last
   * search has its whole lifetime.
   */
  async #startExpired(wallet: Wallet): Promise<void> {
    const now = steadyNow()
    const { handlers } = this.#shared
    const { flowLifetimeMs } = handlers
    if (now < Math.min(this.#expiryAt, this.#expiryCheckedAt + Math.min(expiryTtlMs, flowLifetimeMs))) {
      this.#expiryAt = Math.min(this.#expiryAt, this.#expiryCheckedAt + flowLifetimeMs)
      return
    }
    const limit = this.#freeSlots
    const { expired, nextAt = Infinity } = await handlers.findExpired(wallet, limit + this.#queues.size)
    for (const flow of expired.filter(({ queue }) => !this.#queues.has(queue)).slice(0, limit))
      void this.#run(flow.queue, (opened) => storeOutcome(opened, (again) => handlers.expire(again, flow)))
    // The end of a running job leads to the next search.
    this.#expiryCheckedAt = expired.length > 0 ? -Infinity : now
    this.#expiryAt = nextAt
  }

  async #startJobs({ db }: Wallet): Promise<void> {
    const limit = this.#freeSlots
    this.#jobsAt = Infinity
    if (limit === 0) return
    const { jobs, nextAt, waiting } = await dueJobs(db, undefined, { busy: [...this.#queues], limit })
    this.#shared.backlogs.setJobs(this.#id, waiting, this.#queues.size)
    for (const job of jobs) void this.#run(job.queue, (wallet) => this.#shared.handlers.job(wallet, job))
    if (nextAt) this.#jobsAt = nextAt.getTime()
  }

  /** Runs a job, or ends a flow, as the only one of its queue. */
  async #run(queue: string, work: (wallet: Wallet) => Promise<void>): Promise<void> {
    const { jobs, use } = this.#shared
    this.#queues.add(queue)
    try {
      await jobs.add(() => use(this.#id, work))
    } catch (error) {
      if (error instanceof NoFreeConnectionError) {
        this.#crowded.add(queue)
        // The queue releases its slot while it waits.
        this.#shared.wake(this.#id, ['jobs'])
        await error.free
        this.#crowded.delete(queue)
      } else await this.#recovery.after(error, { queue })
    }
    this.#queues.delete(queue)
    this.#shared.wake(this.#id, ['jobs'])
  }

  async #startDeliveries(wallet: Wallet): Promise<void> {
    const accepted = new Map([...this.#accepted].map(([webhook, { sequence }]) => [webhook, sequence]))
    const busy = [...this.#webhooks.keys()]
    for (const webhook of this.#webhooks.values()) webhook.hasMore = true
    const due = await dueDeliveries(wallet.db, this.#id, { busy, accepted })
    this.#shared.backlogs.setEvents(this.#id, due.waiting, busy)
    for (const delivery of due.deliveries) void this.#deliver(delivery)
    this.#deliveriesAt = due.nextAt?.getTime() ?? Infinity
    if (due.skipped.size > 0) await wallet.transaction((tx) => skip(tx, due.skipped))
  }

  /**
   * Delivers events and the following ones, as the only ones of their webhook, until some are not accepted or
   * the webhook changes.
   */
  async #deliver(first: Delivery): Promise<void> {
    const { handlers, slots, use } = this.#shared
    const { webhookId, following, newest } = first
    const webhook = { hasMore: false, isStale: false }
    this.#webhooks.set(webhookId, webhook)
    const send = (delivery: Delivery) =>
      use(this.#id, async (wallet) => {
        const { isAccepted, stored } = await handlers.deliver(wallet, delivery)
        // The next event of a replay is read from what is stored.
        if (delivery.kind === 'replay') await stored
        else if (stored) this.#trackAccepted(delivery, stored)
        return isAccepted
      })
    let isEmpty = false
    try {
      for (const delivery of [first, ...following.map((events) => ({ ...first, events, attempts: 0 }))]) {
        const isAccepted = await slots.run(`${this.#id} ${webhookId}`, () => send(delivery))
        if (!isAccepted || webhook.isStale || this.#shared.isStopped || this.#recovery.unstored > 0) break
        isEmpty = delivery.kind === 'automatic' && lastOf(delivery) === newest && !webhook.hasMore
      }
    } catch (error) {
      await this.#recovery.after(error, { webhookId })
    }
    this.#webhooks.delete(webhookId)
    if (isEmpty) this.#shared.backlogs.clearWebhook(this.#id, webhookId)
    if (!isEmpty) this.#shared.wake(this.#id, ['events'])
    else if (!this.#isRunning) this.#sleep()
  }

  /**
   * Keeps an acceptance until it is stored, so that the next event is sent without waiting for the disk.
   * Several may be `stored` by one write.
   */
  #trackAccepted(delivery: Delivery, stored: Promise<void>): void {
    const { webhookId } = delivery
    const isNew = ![...this.#accepted.values()].some((each) => each.stored === stored)
    this.#accepted.set(webhookId, { sequence: lastOf(delivery), stored })
    if (!isNew) return
    const untrack = () => {
      for (const [id, each] of this.#accepted) if (each.stored === stored) this.#accepted.delete(id)
      if (!this.#isRunning) this.#sleep()
    }
    const recover = async (error: unknown) => {
      await this.#recovery.after(error, { webhookId })
      untrack()
      this.#shared.wake(this.#id)
    }
    stored.then(untrack, recover)
    // Keeps the wallet open until the write is done.
    this.#shared.use(this.#id, () => stored).catch(() => undefined)
  }

  /**
   * Sets the timer for the next due time, which may have passed. An overdue expiry may wait for the end of a
   * job.
   */
  #sleep(): void {
    clearTimeout(this.#timer)
    if (this.#shared.isStopped) return
    const now = steadyNow()
    const expiryAt = this.#expiryAt > now || !this.#isRunning ? this.#expiryAt : Infinity
    const at = Math.max(now, Math.min(this.#jobsAt, this.#deliveriesAt, expiryAt))
    // A timer may fire up to a millisecond early.
    const delayMs = Math.min(longestTimerMs, at - now + 1)
    if (at < Infinity) this.#timer = setTimeout(() => this.#shared.wake(this.#id), delayMs)
    else if (!this.#isRunning) this.#shared.forget(this.#id)
  }
}
