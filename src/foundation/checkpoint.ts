/** Long loops that share the event loop with other requests. */
import { setImmediate } from 'node:timers/promises'

/** A call between the parts of a loop. */
export type Checkpoint = () => Promise<void>

/** Lets other work proceed at the first call after `yieldMs` milliseconds of the loop. */
export function createCheckpoint(yieldMs = 10): Checkpoint {
  let last = performance.now()
  return async () => {
    if (performance.now() - last < yieldMs) return
    await setImmediate()
    last = performance.now()
  }
}

/** A checkpoint that throws the error when the loop has run for `timeMs` milliseconds. */
export function createTimeLimit(timeMs: number, toError: () => Error): Checkpoint {
  const end = performance.now() + timeMs
  const checkpoint = createCheckpoint()
  return async () => {
    if (performance.now() >= end) throw toError()
    await checkpoint()
  }
}
