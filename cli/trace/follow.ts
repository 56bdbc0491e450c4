/** Follows a thread: reloads its trace at each event, and polls while a step is retried without events. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pending, Trace } from './words.ts'

/** Milliseconds until the next reload without an event: during retries, and otherwise. */
const busyMs = 1_000
const idleMs = 10_000

/** Pending work that creates no events. */
const tried: readonly Pending['what'][] = ['message', 'work', 'webhook']

/**
 * Yields the trace now, after each event, and periodically, until the signal aborts. Retries while the daemon
 * is away.
 */
export async function* follow(
  look: () => Promise<Trace>,
  events: AsyncIterable<unknown>,
  signal: AbortSignal,
): AsyncGenerator<Trace, void> {
  const iterator = events[Symbol.asyncIterator]()
  const nextEvent = () => iterator.next().then(({ done }) => (done ? ('end' as const) : ('event' as const)))
  let event = nextEvent()
  while (!signal.aborted) {
    const trace = await look().catch((error: unknown) => {
      if ((error as Error).name !== 'DaemonUnreachable') throw error
    })
    if (trace) yield trace
    const waitMs = !trace || trace.pending.some(({ what }) => tried.includes(what)) ? busyMs : idleMs
    const pause = new AbortController()
    const rest = sleep(waitMs, 'time' as const, { signal: AbortSignal.any([signal, pause.signal]) }).catch(
      () => 'time' as const,
    )
    const woken = await Promise.race([event, rest])
    pause.abort()
    if (woken === 'end') return
    if (woken === 'event') event = nextEvent()
  }
}
