/** Server-sent events (WHATWG HTML §9.2). */
import { Readable } from 'node:stream'
import type { Event } from '../../src/wallet/events/event.ts'

/** The time before a client reconnects. */
const retryMs = 1_000

/** The begin of a stream. A client that disconnects before the first event resumes after `lastEventId`. */
export function toPreamble(lastEventId: string | undefined): string {
  return `retry: ${retryMs}\n${lastEventId === undefined ? '' : `id: ${lastEventId}\n`}\n`
}

/**
 * One event, or a comment, which keeps the connection open in proxies. Without `hasId`, clients cannot resume
 * after the event.
 */
export function toFrame(event: Event | undefined, hasId: boolean): string {
  if (!event) return ':\n\n'
  return `${hasId ? `id: ${event.id}\n` : ''}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

/**
 * A stream of texts, each of which is produced when the one before has been sent.
 *
 * The stream ends with the texts, or is destroyed if the signal aborts while a text waits to be sent.
 * `onClose` is called in all cases.
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
