/**
 * Places for requests to webhooks, a bounded number at a time. Receivers that hang have places of their own: nobody waits behind them.
 *
 * Every request begins among the prompt ones. Whoever is not answered soon moves over to the slow places, once there is one free; a lane
 * whose request took long and was not taken in the end begins there the next time, until one is.
 */
import { LRUCache } from 'lru-cache'
import PQueue from 'p-queue'
import { atMost } from '../base/at-most.ts'

/** How many requests are under way at a time, and how long one counts as prompt, in milliseconds. */
type Sizes = { prompt: number; slow: number; promptMs: number }

/** Somebody who hangs is waited for five seconds in ten (service §6.3): there are slow places for a thousand of them. */
const usual: Sizes = { prompt: 512, slow: 512, promptMs: 250 }

/** Lanes that are remembered to hang; who is forgotten begins among the prompt ones. */
const remembered = 10_000

export class Places {
  readonly #prompt: PQueue
  readonly #slow: PQueue
  readonly #promptMs: number
  readonly #hanging = new LRUCache<string, true>(atMost(remembered))

  constructor({ prompt, slow, promptMs }: Sizes = usual) {
    this.#prompt = new PQueue({ concurrency: prompt })
    this.#slow = new PQueue({ concurrency: slow })
    this.#promptMs = promptMs
  }

  /** Makes a lane's request, which says whether it was taken, when there is a place. Ends with it, returns what it says, and throws what it throws. */
  run(lane: string, request: () => Promise<boolean>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const isHanging = this.#hanging.has(lane)
      const make = async () => {
        const underWay = this.#watch(lane, request)
        underWay.then(resolve, reject)
        const ended = underWay.catch(() => undefined)
        await (isHanging ? ended : this.#untilLate(ended))
      }
      void (isHanging ? this.#slow : this.#prompt).add(make)
    })
  }

  /** Forgets requests that were not begun. */
  clear(): void {
    this.#prompt.clear()
    this.#slow.clear()
  }

  /** Resolves when no request is under way. */
  async onIdle(): Promise<void> {
    await Promise.all([this.#prompt.onIdle(), this.#slow.onIdle()])
  }

  async #watch(lane: string, request: () => Promise<boolean>): Promise<boolean> {
    const start = performance.now()
    const isTaken = await request()
    if (!isTaken && performance.now() - start >= this.#promptMs) this.#hanging.set(lane, true)
    else this.#hanging.delete(lane)
    return isTaken
  }

  /** Resolves when a request has ended, or has got a slow place. */
  #untilLate(ended: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        const moveOver = () => (resolve(), ended)
        void this.#slow.add(moveOver, { priority: 1 })
      }, this.#promptMs)
      void ended.then(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}
