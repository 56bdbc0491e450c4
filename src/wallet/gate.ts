/**
 * Where writes to wallets' files pass, so that all of them can be copied as they are at one instant.
 *
 * For that instant, milliseconds, no write begins and none is under way. From then on, until it is over, whoever copies is asked before a
 * wallet is written to, and lets it pass when it has the file as it was.
 */
import { setTimeout } from 'node:timers/promises'
import { Problem } from '../base/problem.ts'

/** Resolves when a wallet's file may change. Must not reject. */
export type Keep = (walletId: string) => Promise<void>

export type Gate = {
  /** Does what may write to a wallet's file, be it in a transaction or by opening it. Not to be called by what it does. */
  write<T>(walletId: string, work: () => Promise<T>): Promise<T>
  /**
   * Has no write begin until those under way and then `instant` have ended; from then on `keep` is asked, until `release`.
   *
   * @throws what `instant` throws; {Problem} `error:ServiceUnavailable` when that takes longer than `limitMs`. Writes go on then.
   */
  hold<T>(instant: () => Promise<T>, keep: Keep, limitMs?: number): Promise<T>
  /** Asks nobody any more. */
  release(): void
}

/** Makes the gate of an agent. */
export function createGate(): Gate {
  /** The end of the instant, who is asked after it, and how many writes are under way. */
  const now: { held?: Promise<void> | undefined; keep?: Keep | undefined; writing: number } = { writing: 0 }
  let onIdle: (() => void) | undefined

  /** Counts a write as soon as it may begin: nothing may come between the two. */
  async function pass(walletId: string): Promise<void> {
    while (now.held || now.keep) {
      const asked = now.keep
      await (now.held ?? asked?.(walletId))
      // Another instant may have come meanwhile.
      if (asked && !now.held && now.keep === asked) break
    }
    now.writing++
  }

  return {
    async write(walletId, work) {
      if (now.held || now.keep) await pass(walletId)
      else now.writing++
      try {
        return await work()
      } finally {
        if (--now.writing === 0) onIdle?.()
      }
    },

    async hold(instant, next, limitMs = 5_000) {
      if (now.held || now.keep) throw new Error('the wallets are held already')
      let open = () => {}
      now.held = new Promise((resolve) => (open = resolve))
      const ended = new AbortController()
      const taken = (async () => {
        if (now.writing > 0) await new Promise<void>((resolve) => (onIdle = resolve))
        ended.signal.throwIfAborted()
        return instant()
      })()
      const late = setTimeout(limitMs, undefined, ended).then(() => {
        throw new Problem(
          'error:ServiceUnavailable',
          'The agent did not come to rest for a moment, as a backup needs it. Try again.',
        )
      })
      try {
        const result = await Promise.race([taken, late])
        now.keep = next
        return result
      } finally {
        ended.abort()
        for (const left of [taken, late]) left.catch(() => undefined)
        onIdle = undefined
        now.held = undefined
        open()
      }
    },

    release() {
      now.keep = undefined
    },
  }
}
