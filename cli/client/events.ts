/** The event stream of a wallet, across restarts of the daemon and until Ctrl-C. */
import { setTimeout } from 'node:timers/promises'
import type { EventStream } from '../../daemon/client/event-client.ts'
import type { Answer } from './api.ts'

export type Event = Answer<'GET /events/{id}'>

/** The pause before the daemon is called again. */
const retryMs = 500

export type Reading = {
  signal: AbortSignal
  /** Called when the daemon has stopped, and when it is available again. */
  onChange?: ((isThere: boolean) => void) | undefined
}

/**
 * Yields every event of a stream. When the daemon stops, reconnects and continues after the last event.
 * `open` opens a stream after an event, or from now on. Ends when the signal aborts. No event is missed once
 * this function has returned.
 *
 * @throws {ProblemError} when the daemon refuses. @throws {DaemonUnreachable} when it is not available at the
 * start.
 */
export async function readEvents(
  open: (lastEventId: string | undefined) => Promise<EventStream>,
  after: string | undefined,
  { signal, onChange }: Reading,
): Promise<AsyncIterable<Event>> {
  const first = await open(after)

  async function reopen(last: string | undefined): Promise<EventStream | undefined> {
    onChange?.(false)
    while (!signal.aborted) {
      const stream = await open(last).catch((error: unknown) => {
        if (!isAway(error)) throw error
      })
      if (stream) {
        onChange?.(true)
        return stream
      }
      await setTimeout(retryMs, undefined, { signal }).catch(() => undefined)
    }
    return undefined
  }

  return (async function* () {
    let last = first.lastEventId
    for (
      let stream: EventStream | undefined = first;
      stream;
      stream = signal.aborted ? undefined : await reopen(last)
    ) {
      try {
        for await (const event of stream.events) {
          last = event.id
          yield event
        }
      } catch (error) {
        if (!isAway(error)) throw error
      }
    }
  })()
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
