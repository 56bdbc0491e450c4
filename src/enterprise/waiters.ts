/** Who waits for an answer to a DID request or a challenge: told when it has come, so that nobody has to ask again and again. */

/** How many may wait at a time. Whoever comes then is answered at once, as if the time were over. */
const places = 1_000

export type Waiters = {
  /** Resolves when `wake` is called for the id, when the time is over, or when `signal` says that nobody waits any more. */
  wait(id: string, milliseconds: number, signal?: AbortSignal): Promise<void>
  /** Tells everybody who waits for the id. */
  wake(id: string): void
  /** Tells everybody: nothing more will come. */
  close(): void
}

export function createWaiters(): Waiters {
  const waiting = new Map<string, Set<() => void>>()
  let count = 0
  let isClosed = false

  function wake(id: string): void {
    for (const done of waiting.get(id) ?? []) done()
  }

  return {
    wait(id, milliseconds, signal) {
      if (isClosed || count >= places || signal?.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', done)
          others.delete(done)
          if (others.size === 0) waiting.delete(id)
          count--
          resolve()
        }
        const timer = setTimeout(done, milliseconds)
        const others = waiting.get(id) ?? new Set()
        waiting.set(id, others.add(done))
        signal?.addEventListener('abort', done)
        count++
      })
    },
    wake,
    close() {
      isClosed = true
      for (const id of waiting.keys()) wake(id)
    },
  }
}
