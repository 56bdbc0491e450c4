/** Repeats work at an interval, and at once when it is woken. One run at a time. */
import { steadyNow } from '../foundation/clock.ts'

export class Ticker {
  readonly #work: () => Promise<number>
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isWoken = false
  #isStopped = false

  /** `work` returns when it runs next (milliseconds of `steadyNow`), and must not reject. */
  constructor(work: () => Promise<number>) {
    this.#work = work
  }

  /**
   * Runs the work now, or once more after the run under way. Resolves when the work that has begun after this
   * call is done.
   */
  async wake(): Promise<void> {
    if (this.#isStopped) return
    if (this.#running) {
      this.#isWoken = true
      await this.#running
      return this.#running
    }
    clearTimeout(this.#timer)
    this.#running = this.#run()
    return this.#running
  }

  async #run(): Promise<void> {
    this.#isWoken = false
    const nextAt = await this.#work()
    this.#running = undefined
    if (this.#isStopped) return
    if (this.#isWoken) return void this.wake()
    this.#timer = setTimeout(() => void this.wake(), Math.max(0, nextAt - steadyNow()))
  }

  /** Resolves when the work under way is done. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#running
  }
}
