/**
 * The write barrier: every write to a wallet file passes it, so that all files can be copied as they are at
 * one instant.
 *
 * `pause` stops writes for some milliseconds. After that, until `release`, each write first awaits
 * `beforeWrite`, in which a backup takes its snapshot of that wallet.
 */
import { setTimeout } from 'node:timers/promises'
import { Problem } from '../foundation/problem.ts'

/** Resolves when the file of a wallet may change. Must not reject. */
export type BeforeWrite = (walletId: string) => Promise<void>

export type WriteBarrier = {
  /** Runs `work`, which may write to a wallet's file or open it. `work` must not call `write` itself. */
  write<T>(walletId: string, work: () => Promise<T>): Promise<T>
  /**
   * Waits for the writes under way, then runs `instant` while no write runs. From then on each write awaits
   * `beforeWrite`, until `release`.
   *
   * @throws what `instant` throws; {Problem} `error:ServiceUnavailable` after `limitMs`. Writes continue
   * then.
   */
  pause<T>(instant: () => Promise<T>, beforeWrite: BeforeWrite, limitMs?: number): Promise<T>
  /** Ends the calls of `beforeWrite`. */
  release(): void
}

export function createWriteBarrier(): WriteBarrier {
  /** `paused` resolves when the pause ends. */
  const now: { paused?: Promise<void> | undefined; beforeWrite?: BeforeWrite | undefined } = {}
  let writing = 0
  let onIdle: (() => void) | undefined

  /** Increments `writing` in the same tick in which the write is let through. */
  async function enter(walletId: string): Promise<void> {
    while (now.paused || now.beforeWrite) {
      const awaited = now.beforeWrite
      await (now.paused ?? awaited?.(walletId))
      // Another pause may have begun in the meantime.
      if (awaited && !now.paused && now.beforeWrite === awaited) break
    }
    writing++
  }

  return {
    async write(walletId, work) {
      if (now.paused || now.beforeWrite) await enter(walletId)
      else writing++
      try {
        return await work()
      } finally {
        if (--writing === 0) onIdle?.()
      }
    },

    async pause(instant, next, limitMs = 5_000) {
      if (now.paused || now.beforeWrite) throw new Error('writes are paused already')
      let resume = () => {}
      now.paused = new Promise((resolve) => (resume = resolve))
      const ended = new AbortController()
      const running = (async () => {
        if (writing > 0) await new Promise<void>((resolve) => (onIdle = resolve))
        ended.signal.throwIfAborted()
        return instant()
      })()
      const timeout = setTimeout(limitMs, undefined, ended).then(() => {
        throw new Problem(
          'error:ServiceUnavailable',
          `Could not pause writes within ${limitMs / 1_000} s to take a consistent snapshot. Try again.`,
        )
      })
      try {
        const result = await Promise.race([running, timeout])
        now.beforeWrite = next
        return result
      } finally {
        ended.abort()
        for (const unused of [running, timeout]) unused.catch(() => undefined)
        onIdle = undefined
        now.paused = undefined
        resume()
      }
    },

    release() {
      now.beforeWrite = undefined
    },
  }
}
