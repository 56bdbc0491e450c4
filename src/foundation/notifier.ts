/**
 * Notifies subscriptions of commits, so that nothing polls.
 *
 * A notification says that something has changed, not what. The subscriber reads the database, as fast as it
 * can.
 */
export class Notifier {
  readonly #subscriptions = new Map<string, Set<Subscription>>()
  #isClosed = false

  /** Notifies the subscriptions to a topic of a wallet, and those to the topic of all wallets. */
  notify(topic: string, walletId: string): void {
    for (const key of [keyOf(topic, walletId), keyOf(topic)])
      for (const subscription of this.#subscriptions.get(key) ?? []) subscription.notify(walletId)
  }

  /** Subscribes to a topic of a wallet, or of all wallets, until `signal` aborts. */
  subscribe(topic: string, walletId?: string, signal?: AbortSignal): Subscription {
    const key = keyOf(topic, walletId)
    const others = this.#subscriptions.get(key) ?? new Set()
    const subscription = new Subscription(() => {
      others.delete(subscription)
      if (others.size === 0) this.#subscriptions.delete(key)
    })
    this.#subscriptions.set(key, others.add(subscription))
    signal?.addEventListener('abort', () => subscription.close())
    if (this.#isClosed || signal?.aborted) subscription.close()
    return subscription
  }

  /** The number of open subscriptions to a topic of a wallet, or of all wallets. */
  count(topic: string, walletId?: string): number {
    return this.#subscriptions.get(keyOf(topic, walletId))?.size ?? 0
  }

  /** The number of open subscriptions to a topic, of each wallet and of all wallets. */
  countAll(topic: string): number {
    let count = 0
    for (const [key, { size }] of this.#subscriptions) if (key.endsWith(` ${topic}`)) count += size
    return count
  }

  /** Closes the subscriptions to wallets that another process is about to own. Their clients subscribe there. */
  closeUnowned(owns: (walletId: string) => boolean): void {
    for (const [key, subscriptions] of this.#subscriptions) {
      const walletId = key.slice(0, key.lastIndexOf(' '))
      if (walletId === allWallets || owns(walletId)) continue
      for (const subscription of subscriptions) subscription.close()
    }
  }

  /** Closes all subscriptions, and those that are made later. */
  close(): void {
    this.#isClosed = true
    for (const subscriptions of this.#subscriptions.values())
      for (const subscription of subscriptions) subscription.close()
  }
}

/** In the place of the id of a wallet. */
const allWallets = 'all wallets'

const keyOf = (topic: string, walletId = allWallets) => `${walletId} ${topic}`

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

  /** Notifies the subscriber of a commit in a wallet. */
  notify(walletId: string): void {
    this.#changed.add(walletId)
    this.#notify?.()
  }

  /**
   * The wallets with commits since the last call. Waits for the first for at most `timeoutMs`; then there are
   * none. Undefined when the subscription is closed.
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
