/** The event stream of a wallet, across restarts of the daemon and until Ctrl-C. */
import { setTimeout } from 'node:timers/promises'
import type { EventStream } from '../../daemon/client/event-client.ts'
import type { Answer } from './api.ts'

export type Event = Answer<'GET /events/{id}'>

/** How long to wait, in milliseconds, before the daemon is asked again. */
const retryMs = 500

export type Reading = {
  signal: AbortSignal
  /** Told when the daemon has gone, and when it is there again. */
  onChange?: ((isThere: boolean) => void) | undefined
}

/**
 * Yields every event of a stream, and of the streams after it: when the daemon goes, it is asked again until it is there, for what came
 * after the last event. `open` opens a stream, from now on when no id is given. Ends when the signal aborts.
 *
 * Once this returns, nothing is missed.
 *
 * @throws {ProblemError} when the daemon refuses. @throws {DaemonUnreachable} when it is not there to begin with.
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

/** The daemon is not there, or not ready yet. */
function isAway(error: unknown): boolean {
  const { name, problem } = error as { name?: string; problem?: { status: number } }
  return name === 'DaemonUnreachable' || problem?.status === 503
}

/** Aborts `signal` at Ctrl-C, at SIGTERM and when nobody reads the output any more; `interrupted` is then the exit code: 130, or else 0. */
export function interruption(): { signal: AbortSignal; interrupted: () => number } {
  const ending = new AbortController()
  let exitCode = 0
  process.once('SIGINT', () => {
    exitCode = 130
    ending.abort()
  })
  process.once('SIGTERM', () => ending.abort())
  // Nobody reads on: `agent event tail | head -1`.
  process.stdout.once('error', () => ending.abort())
  return { signal: ending.signal, interrupted: () => exitCode }
}
