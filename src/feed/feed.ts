/**
 * Who waits for news of which wallets: every commit tells it, so that nobody polls.
 *
 * It passes on that there is something new, never what: whoever is told reads the log, from where it stands and as fast as it can.
 */
import { Problem } from '../base/problem.ts'

/** Listeners that one wallet may have at a time, and all of them together that listen to every wallet. */
const listenersAtOnce = 50

/** What commits in a wallet are told to. */
export class Listener {
  readonly #news = new Set<string>()
  readonly #onClose: () => void
  readonly #closing = new AbortController()
  #tell: (() => void) | undefined

  constructor(onClose: () => void) {
    this.#onClose = onClose
  }

  /** Aborts when there will be no more news. */
  get signal(): AbortSignal {
    return this.#closing.signal
  }

  /** There is something new in a wallet, perhaps. */
  wake(walletId: string): void {
    this.#news.add(walletId)
    this.#tell?.()
  }

  /**
   * The wallets with something new since the last call. Waits for some, `patienceMs` milliseconds at most: then there are none.
   * Nothing at all when there will be no more.
   */
  async news(patienceMs: number): Promise<string[] | undefined> {
    if (this.#news.size === 0 && !this.signal.aborted) await this.#wait(patienceMs)
    if (this.signal.aborted) return undefined
    const news = [...this.#news]
    this.#news.clear()
    return news
  }

  /** Ends the listening; whoever waits for news is told. */
  close(): void {
    if (this.signal.aborted) return
    this.#onClose()
    this.#closing.abort()
    this.#tell?.()
  }

  #wait(patienceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#tell?.(), patienceMs)
      this.#tell = () => {
        clearTimeout(timer)
        this.#tell = undefined
        resolve()
      }
    })
  }
}

export class Feed {
  /** By wallet; those that listen to all of them have none. */
  readonly #listeners = new Map<string | undefined, Set<Listener>>()
  #isClosed = false

  /** Tells those who listen that something was committed in a wallet. */
  wake(walletId: string): void {
    for (const key of [walletId, undefined]) for (const listener of this.#listeners.get(key) ?? []) listener.wake(walletId)
  }

  /** Listens to a wallet, or to all of them. @throws {Problem} `TooManyRequests` */
  listen(walletId?: string): Listener {
    const others = this.#listeners.get(walletId) ?? new Set()
    if (others.size >= listenersAtOnce) {
      const whose = walletId === undefined ? 'of all wallets' : `of the wallet ${walletId}`
      throw new Problem('TooManyRequests', `${listenersAtOnce} streams ${whose} are open, the most there may be. Close one first.`)
    }
    const listener = new Listener(() => {
      others.delete(listener)
      if (others.size === 0) this.#listeners.delete(walletId)
    })
    this.#listeners.set(walletId, others.add(listener))
    if (this.#isClosed) listener.close()
    return listener
  }

  /** Ends all listening, now and from now on. */
  close(): void {
    this.#isClosed = true
    for (const listeners of this.#listeners.values()) for (const listener of listeners) listener.close()
  }
}
