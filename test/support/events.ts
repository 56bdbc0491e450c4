/** Reads event streams as a program does. */
import { openEventStream, type StreamOptions } from '../../daemon/client/event-client.ts'
import type { Event } from '../../src/wallet/events/event.ts'

/** An open stream: the next event, the next few, or the rest. */
export async function follow(
  url: string,
  headers: Record<string, string>,
  options: Omit<StreamOptions, 'signal'> = {},
) {
  const ending = new AbortController()
  const { lastEventId, events } = await openEventStream(url, headers, { ...options, signal: ending.signal })
  const iterator = events[Symbol.asyncIterator]()
  return {
    lastEventId,
    /** The next events, as many as given. @throws if the stream ends before. */
    async take(count: number): Promise<Event[]> {
      const taken: Event[] = []
      while (taken.length < count) {
        const { done, value } = await iterator.next()
        if (done) throw new Error(`the stream ended after ${taken.length} of ${count} events`)
        taken.push(value)
      }
      return taken
    },
    /** All events until the daemon ends the stream. */
    async rest(): Promise<Event[]> {
      const rest: Event[] = []
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) rest.push(next.value)
      return rest
    },
    close: () => ending.abort(),
  }
}
