/**
 * Slots for requests to webhooks, so that a bounded number is in flight at a time and slow receivers do not
 * delay prompt ones.
 *
 * Every request starts in a prompt slot. A request that gets no answer soon moves to a slow slot, once one is
 * free. A webhook whose last request took long and failed starts in a slow slot, until a request to it
 * succeeds.
 */
import { LRUCache } from 'lru-cache'
import PQueue from 'p-queue'

/** Requests in flight at a time, and how long one counts as prompt, in milliseconds. */
type Sizes = { prompt: number; slow: number; promptMs: number }

/**
 * A hanging receiver occupies a slot for five of ten seconds, so the slow slots are enough for a thousand of
 * them.
 */
const defaults: Sizes = { prompt: 512, slow: 512, promptMs: 250 }

/** The number of slow webhooks to remember. */
const remembered = 10_000

export class WebhookSlots {
  readonly #prompt: PQueue
  readonly #slow: PQueue
  readonly #promptMs: number
  readonly #slowWebhooks = new LRUCache<string, true>({ max: remembered })

  constructor({ prompt, slow, promptMs }: Sizes = defaults) {
    this.#prompt = new PQueue({ concurrency: prompt })
    this.#slow = new PQueue({ concurrency: slow })
    this.#promptMs = promptMs
  }

  /**
   * Makes a webhook's request when a slot is free. Resolves to whether the event was accepted; rejects like
   * the request.
   */
  run(webhook: string, request: () => Promise<boolean>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const isSlow = this.#slowWebhooks.has(webhook)
      const start = async () => {
        const inFlight = this.#measure(webhook, request)
        inFlight.then(resolve, reject)
        const ended = inFlight.catch(() => undefined)
        await (isSlow ? ended : this.#endedOrMoved(ended))
      }
      void (isSlow ? this.#slow : this.#prompt).add(start)
    })
  }

  /** Drops requests that have not started. */
  clear(): void {
    this.#prompt.clear()
    this.#slow.clear()
  }

  /** Resolves when no request is in flight. */
  async onIdle(): Promise<void> {
    await Promise.all([this.#prompt.onIdle(), this.#slow.onIdle()])
  }

  async #measure(webhook: string, request: () => Promise<boolean>): Promise<boolean> {
    const start = performance.now()
    const isAccepted = await request()
    if (!isAccepted && performance.now() - start >= this.#promptMs) this.#slowWebhooks.set(webhook, true)
    else this.#slowWebhooks.delete(webhook)
    return isAccepted
  }

  /** Resolves when a request has ended, or has moved to a slow slot. */
  #endedOrMoved(ended: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        const move = () => (resolve(), ended)
        void this.#slow.add(move, { priority: 1 })
      }, this.#promptMs)
      void ended.then(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}
