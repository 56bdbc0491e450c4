/** Follows a thread: told of its events, and looking again while something is tried that makes none. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pending, Trace } from './words.ts'

/** How long to wait, in milliseconds, before looking again when no event comes: while something is tried, and otherwise. */
const busyMs = 1_000
const idleMs = 10_000

/** What goes on without an event. */
const tried: readonly Pending['what'][] = ['message', 'work', 'webhook']

/** Yields the trace now, after every event, and in between, until the signal aborts. A daemon that has gone is asked again. */
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
