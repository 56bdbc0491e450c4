/** The event stream of a wallet, across restarts of the daemon and until Ctrl-C. */
import type { EventStream } from '../../daemon/client/event-client.ts'
import { followEvents } from '../../daemon/client/follow-events.ts'
import type { Answer } from './api.ts'

export type Event = Answer<'GET /events/{id}'>

export type Reading = {
  signal: AbortSignal
  /** Called when the daemon has stopped, and when it is available again. */
  onChange?: ((isThere: boolean) => void) | undefined
}

/**
 * Yields every event of a stream, as `followEvents` does. `open` opens a stream after an event, or from now
 * on.
 *
 * @throws {ProblemError} when the daemon refuses. @throws {DaemonUnreachable} when it is not available at the
 * start.
 */
export function readEvents(
  open: (lastEventId: string | undefined) => Promise<EventStream>,
  after: string | undefined,
  reading: Reading,
): Promise<AsyncIterable<Event>> {
  return followEvents({ open, isAway, ...reading }, after)
}

/** True when the daemon is not available, or not ready yet. */
function isAway(error: unknown): boolean {
  const { name, problem } = error as { name?: string; problem?: { status: number } }
  return name === 'DaemonUnreachable' || problem?.status === 503
}

/**
 * Aborts `signal` on Ctrl-C, on SIGTERM, and when the reader of standard output is gone. `interrupted`
 * returns the exit code: 130 after Ctrl-C, otherwise 0.
 */
export function interruption(): { signal: AbortSignal; interrupted: () => number } {
  const ending = new AbortController()
  let exitCode = 0
  process.once('SIGINT', () => {
    exitCode = 130
    ending.abort()
  })
  process.once('SIGTERM', () => ending.abort())
  // The reader has closed the pipe: `agent event tail | head -1`.
  process.stdout.once('error', () => ending.abort())
  return { signal: ending.signal, interrupted: () => exitCode }
}
