/** A client of the event stream (server-sent events). */
import { text } from 'node:stream/consumers'
import type { Event } from '../../src/wallet/events/event.ts'
import { ask } from './send-request.ts'
import { DaemonUnreachable, refusalOf } from './client.ts'
import { readFrames, type EventStream as StreamOf } from './follow-events.ts'

/** The maximum time without data. The daemon sends a comment every 15 seconds. */
const silenceMs = 45_000

export type StreamOptions = {
  query?: { type?: string | undefined; thid?: string | undefined; walletId?: string | undefined }
  /** Resumes after the event with this id. Default: only new events. */
  lastEventId?: string | undefined
  signal: AbortSignal
}

export type EventStream = StreamOf<Event>

/**
 * Opens a stream of events of the API at `baseUrl`. `headers` contain the credentials. An open stream misses
 * no event.
 *
 * @throws {ProblemError} when the daemon refuses. @throws {DaemonUnreachable}
 */
export async function openEventStream(
  baseUrl: string,
  headers: Readonly<Record<string, string>>,
  { query = {}, lastEventId, signal }: StreamOptions,
): Promise<EventStream> {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/events/stream`)
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, value)
  const ending = new AbortController()
  const end = () => ending.abort()
  signal.addEventListener('abort', end, { once: true })
  const silence = setTimeout(end, silenceMs).unref()
  const cleanUp = () => {
    clearTimeout(silence)
    signal.removeEventListener('abort', end)
  }
  const response = await ask(url, {
    headers: {
      accept: 'text/event-stream',
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      ...headers,
    },
    signal: ending.signal,
  }).catch((cause: unknown) => {
    cleanUp()
    throw new DaemonUnreachable(baseUrl, { cause })
  })
  if (response.statusCode !== 200) {
    cleanUp()
    throw refusalOf(response, await text(response))
  }

  async function* chunks(): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of response) {
      silence.refresh()
      yield chunk as Uint8Array
    }
  }

  async function* events(): AsyncGenerator<Event, void> {
    try {
      yield* readFrames<Event>(chunks())
    } catch (cause) {
      if (!signal.aborted) throw new DaemonUnreachable(baseUrl, { cause })
    } finally {
      cleanUp()
      end()
    }
  }
  return { lastEventId: response.headers['last-event-id']?.toString(), events: events() }
}
