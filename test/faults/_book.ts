/** A webhook receiver that records every event of every wallet. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Event } from '../../src/events/event.ts'

/** The subject of an event (thread or DID) and its state. */
export const subjectOf = ({ data }: Event) => String(data['thid'] ?? data['did'])
export const stateOf = ({ data }: Event) => String(data['state'] ?? data['protocolState'] ?? data['status'])

const keyOf = (walletId: string, subject: string, state: string) => `${walletId} ${subject} ${state}`

export class Book {
  readonly url: string
  /** Each event once, in the order of first arrival. */
  readonly events: Event[] = []
  /** Repeated deliveries. */
  repeats = 0
  /** Repeated deliveries with different content. */
  readonly changed: string[] = []
  readonly #texts = new Map<string, string>()
  readonly #byKey = new Map<string, Event>()
  readonly #waiting = new Map<string, Set<(event: Event) => void>>()
  readonly #server: ReturnType<typeof createServer>

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  }

  static async open(): Promise<Book> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const book = new Book(server)
    server.on('request', (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        book.#enter(Buffer.concat(chunks).toString())
        response.end()
      })
    })
    return book
  }

  /** Resolves with the event of a record's state, past or future. @throws after `timeoutMs`. */
  reached(walletId: string, subject: string, state: string, timeoutMs: number): Promise<Event> {
    const key = keyOf(walletId, subject, state)
    const known = this.#byKey.get(key)
    if (known) return Promise.resolve(known)
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(key) ?? new Set()
      this.#waiting.set(key, waiting)
      const timer = setTimeout(() => {
        waiting.delete(settle)
        reject(new Error(`${state} of ${subject} was not announced within ${timeoutMs} ms`))
      }, timeoutMs)
      const settle = (event: Event) => {
        clearTimeout(timer)
        resolve(event)
      }
      waiting.add(settle)
    })
  }

  /** Drops all recorded events. */
  forget(): void {
    this.events.length = 0
    this.#texts.clear()
    this.#byKey.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #enter(text: string): void {
    const event = Event.parse(JSON.parse(text))
    const known = this.#texts.get(event.id)
    if (known !== undefined) {
      this.repeats++
      if (known !== text) this.changed.push(event.id)
      return
    }
    this.#texts.set(event.id, text)
    this.events.push(event)
    const key = keyOf(event.walletId, subjectOf(event), stateOf(event))
    if (!this.#byKey.has(key)) this.#byKey.set(key, event)
    for (const settle of this.#waiting.get(key) ?? []) settle(event)
    this.#waiting.delete(key)
  }
}
