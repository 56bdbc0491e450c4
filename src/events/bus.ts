/**
 * The event bus: commits notify the subscriptions to a wallet's events, so that nothing polls.
 *
 * A notification says that there are new events, not which. The subscriber reads the log from its own cursor, as fast as it can.
 */
import { Problem } from '../base/problem.ts'

/** Subscriptions to one wallet at a time, and to all wallets together. */
const subscriptionLimit = 50

export class Subscription {
  readonly #changed = new Set<string>()
  readonly #onClose: () => void
  readonly #closing = new AbortController()
  #notify: (() => void) | undefined

  constructor(onClose: () => void) {
    this.#onClose = onClose
  }

  /** Aborts when there will be no more notifications. */
  get signal(): AbortSignal {
    return this.#closing.signal
  }

  /** Notifies the subscriber that a wallet may have new events. */
  notify(walletId: string): void {
    this.#changed.add(walletId)
    this.#notify?.()
  }

  /**
   * The wallets that may have new events since the last call. Waits for the first for at most `timeoutMs`; then there are none.
   * Undefined when the subscription is closed.
   */
  async next(timeoutMs: number): Promise<string[] | undefined> {
    if (this.#changed.size === 0 && !this.signal.aborted) await this.#wait(timeoutMs)
    if (this.signal.aborted) return undefined
    const changed = [...this.#changed]
    this.#changed.clear()
    return changed
  }

  /** Ends the subscription; a pending `next` resolves. */
  close(): void {
    if (this.signal.aborted) return
    this.#onClose()
    this.#closing.abort()
    this.#notify?.()
  }

  #wait(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#notify?.(), timeoutMs)
      this.#notify = () => {
        clearTimeout(timer)
        this.#notify = undefined
        resolve()
      }
    })
  }
}

export class EventBus {
  /** By wallet id; subscriptions to all wallets are under undefined. */
  readonly #subscriptions = new Map<string | undefined, Set<Subscription>>()
  #isClosed = false

  /** Notifies the subscriptions to a wallet, and those to all, of a commit. */
  notify(walletId: string): void {
    for (const key of [walletId, undefined])
      for (const subscription of this.#subscriptions.get(key) ?? []) subscription.notify(walletId)
  }

  /** Subscribes to a wallet, or to all of them. @throws {Problem} `TooManyRequests` */
  subscribe(walletId?: string): Subscription {
    const others = this.#subscriptions.get(walletId) ?? new Set()
    if (others.size >= subscriptionLimit) {
      const whose = walletId === undefined ? 'of all wallets' : `of the wallet ${walletId}`
      throw new Problem(
        'TooManyRequests',
        `${subscriptionLimit} streams ${whose} are open, the most there may be. Close one first.`,
      )
    }
    const subscription = new Subscription(() => {
      others.delete(subscription)
      if (others.size === 0) this.#subscriptions.delete(walletId)
    })
    this.#subscriptions.set(walletId, others.add(subscription))
    if (this.#isClosed) subscription.close()
    return subscription
  }

  /** Closes all subscriptions, and those that are made later. */
  close(): void {
    this.#isClosed = true
    for (const subscriptions of this.#subscriptions.values())
      for (const subscription of subscriptions) subscription.close()
  }
}
