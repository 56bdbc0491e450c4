/** Reads the event stream, also across restarts of the daemon, on Node.js and in browsers. */
import { createParser } from 'eventsource-parser'

/** The pause before the daemon is called again. */
const retryMs = 500

export type EventStream<Event = unknown> = {
  /** The event after which the stream begins. Undefined for a stream of all wallets. */
  lastEventId: string | undefined
  /** Ends when the daemon stops. Throws when the connection breaks. */
  events: AsyncIterable<Event>
}

export type Following<Event> = {
  /** Opens a stream after an event, or from now on. */
  open: (lastEventId: string | undefined) => Promise<EventStream<Event>>
  /** True for an error that ends when the daemon is available again. */
  isAway: (error: unknown) => boolean
  signal: AbortSignal
  /** Called when the daemon has stopped, and when it is available again. */
  onChange?: ((isThere: boolean) => void) | undefined
}

/**
 * Yields every event of a stream after `after`, or from now on. When the daemon stops, reconnects and
 * continues after the last event. Ends when the signal aborts. No event is missed once this function has
 * returned. Rejects and throws as `open` does, unless the daemon is away later.
 */
export async function followEvents<Event extends { id: string }>(
  { open, isAway, signal, onChange }: Following<Event>,
  after: string | undefined,
): Promise<AsyncGenerator<Event, void>> {
  const first = await open(after)

  async function reopen(last: string | undefined): Promise<EventStream<Event> | undefined> {
    onChange?.(false)
    while (!signal.aborted) {
      const stream = await open(last).catch((error: unknown) => {
        if (!isAway(error)) throw error
      })
      if (stream) {
        onChange?.(true)
        return stream
      }
      await pause(signal)
    }
    return undefined
  }

  return (async function* () {
    let last = first.lastEventId
    for (
      let stream: EventStream<Event> | undefined = first;
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

/** Waits for the next attempt, or until the signal aborts. */
function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, retryMs)
    signal.addEventListener('abort', end)
  })
}

/**
 * Reads server-sent events (WHATWG HTML §9.2). Yields the data of each, which is JSON.
 *
 * @throws {SyntaxError} when it is not.
 */
export async function* readFrames<Data>(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Data, void> {
  const arrived: Data[] = []
  const parser = createParser({ onEvent: ({ data }) => arrived.push(JSON.parse(data) as Data) })
  const decoder = new TextDecoder()
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* arrived.splice(0)
  }
}
