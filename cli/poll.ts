/** Waits for what sends no events, by reading it again and again. */
import { setTimeout } from 'node:timers/promises'

const maxPauseMs = 1_000

/** Reads a value after growing pauses, until it is as wanted or the time is over. Returns what was read last. */
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
