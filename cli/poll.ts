/** Polls resources that send no events. */
import { setTimeout } from 'node:timers/promises'

const maxPauseMs = 1_000

/**
 * Reads a value repeatedly, with growing pauses, until `isWanted` accepts it or the time is over. Returns the
 * last value.
 */
export async function poll<T>(
  read: () => Promise<T>,
  isWanted: (value: T) => boolean,
  timeoutMs: number,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 1.5, maxPauseMs)) {
    const value = await read()
    const left = deadline - performance.now()
    if (isWanted(value) || left <= 0) return value
    await setTimeout(Math.min(pauseMs, left))
  }
}
