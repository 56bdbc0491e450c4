/** Events as server-sent events (WHATWG HTML §9.2). */
import { Readable } from 'node:stream'
import type { Event } from '../../src/events/event.ts'

/** How long a client waits before it connects again, in milliseconds. */
const retryMs = 1_000

/** What a stream begins with: a client that loses it before the first event goes on after `lastEventId`, where there is one. */
export function toPreamble(lastEventId: string | undefined): string {
  return `retry: ${retryMs}\n${lastEventId === undefined ? '' : `id: ${lastEventId}\n`}\n`
}

/** One event; a comment for none, so that whoever is in between keeps the connection. Without an id where nobody can go on after it. */
export function toFrame(event: Event | undefined, hasId: boolean): string {
  if (!event) return ':\n\n'
  return `${hasId ? `id: ${event.id}\n` : ''}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

/**
 * A stream of texts that asks for the next one when the last one is gone.
 *
 * It ends with the texts. When the signal aborts while a text waits for its reader, the stream is cut off; `onClose` is called however it ends.
 */
export function toStream(
  texts: AsyncIterator<string, void>,
  signal: AbortSignal,
  onClose: () => void,
): Readable {
  const stream = new Readable({
    highWaterMark: 1,
    read() {
      texts.next().then(
        ({ done, value }) => stream.destroyed || stream.push(done ? null : value),
        (error: Error) => stream.destroy(error),
      )
    },
    destroy(error, callback) {
      onClose()
      callback(error)
    },
  })
  signal.addEventListener('abort', () => stream.readableLength > 0 && stream.destroy(), { once: true })
  return stream
}
