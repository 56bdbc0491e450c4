/** A webhook receiver: records deliveries in order, and waits for events. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Event } from '../src/events/event.ts'

export type Delivered = { event: Event; headers: IncomingHttpHeaders }

export class Sink {
  /** Every request that was answered with 200, including repeats. */
  readonly deliveries: Delivered[] = []
  readonly url: string
  readonly #waiting = new Set<() => void>()
  readonly #server: ReturnType<typeof createServer>

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`
  }

  static async open(): Promise<Sink> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const sink = new Sink(server)
    server.on('request', (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        sink.deliveries.push({
          event: Event.parse(JSON.parse(Buffer.concat(chunks).toString())),
          headers: request.headers,
        })
        response.end()
        for (const look of sink.#waiting) look()
      })
    })
    return sink
  }

  /** Received events, without repeats. */
  get events(): Event[] {
    const byId = new Map<string, Event>()
    for (const { event } of this.deliveries) if (!byId.has(event.id)) byId.set(event.id, event)
    return [...byId.values()]
  }

  /** Waits for a matching event, past or future. */
  waitFor(what: string, fits: (event: Event) => boolean, timeoutMs = 20_000): Promise<Event> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.deliveries.find(({ event }) => fits(event))
        if (found) end(() => resolve(found.event))
      }
      const timer = setTimeout(
        () => end(() => reject(new Error(`${what} did not happen; last events: ${this.#last()}`))),
        timeoutMs,
      )
      const end = (settle: () => void) => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        settle()
      }
      this.#waiting.add(look)
      look()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #last(): string {
    return JSON.stringify(
      this.events
        .slice(-8)
        .map(({ type, walletId, data }) => [
          type,
          walletId.slice(0, 8),
          data.state ?? data.protocolState ?? data.status,
        ]),
    )
  }
}
