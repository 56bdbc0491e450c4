/**
 * The recovery of a wallet after a job or a delivery could not be processed, or its outcome could not be
 * stored.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { isUnwritable, UnstoredError } from '../../foundation/storage/outcome.ts'
import { isElsewhere } from '../../foundation/storage/transferred.ts'
import type { Shared } from './worker.ts'

/** The pause before the next attempt, and the longest one before an outcome is stored again. */
const [firstPauseMs, longestPauseMs] = [500, 10_000]

export class Recovery<Wallet> {
  readonly #id: string
  readonly #shared: Shared<Wallet>
  #unstored = 0

  constructor(id: string, shared: Shared<Wallet>) {
    this.#id = id
    this.#shared = shared
  }

  /** How many outcomes wait in memory until the wallet can be written. */
  get unstored(): number {
    return this.#unstored
  }

  /**
   * Stores the outcome of a job or a delivery, if there is one. Otherwise logs what went wrong, and waits
   * before the next attempt.
   */
  async after(error: unknown, about: Record<string, string>): Promise<void> {
    if (!(error instanceof UnstoredError)) return this.#pause(error, about)
    await this.#store(error, about).catch((fault: unknown) => this.#pause(fault, about))
    // The worker has started nothing meanwhile.
    this.#shared.wake(this.#id)
  }

  /**
   * Stores an outcome as soon as the wallet can be written. A stop of the agent loses it, which leads to a
   * repetition.
   */
  async #store({ store, cause }: UnstoredError<Wallet>, about: Record<string, string>): Promise<void> {
    const { log, use } = this.#shared
    if (this.#unstored++ === 0)
      log.error({ err: cause, walletId: this.#id, ...about }, 'an outcome could not be stored yet')
    try {
      for (let attempts = 0; !this.#shared.isStopped; attempts++) {
        await wait(Math.min(longestPauseMs, firstPauseMs * 2 ** attempts), undefined, { ref: false })
        if (await isStored(use(this.#id, store))) return
      }
    } finally {
      this.#unstored--
    }
  }

  async #pause(error: unknown, about: Record<string, string>): Promise<void> {
    if (this.#shared.isStopped || isElsewhere(error)) return
    const fields = { err: error, walletId: this.#id, ...about }
    this.#shared.log.error(fields, 'a job or a delivery could not be processed')
    await wait(firstPauseMs, undefined, { ref: false })
  }
}

async function isStored(stored: Promise<void>): Promise<boolean> {
  try {
    await stored
    return true
  } catch (error) {
    if (isUnwritable(error)) return false
    throw error
  }
}
