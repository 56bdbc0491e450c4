/** A webhook that records the events of any number of wallets, and waits for them. */
import type { IncomingHttpHeaders } from 'node:http'
import { Event } from '../../src/wallet/events/event.ts'
import { startServer, withBody, type TestServer } from './server.ts'

export type Delivered = { event: Event; headers: IncomingHttpHeaders }

/** The subject of an event (thread or DID) and its state. */
export const subjectOf = ({ data }: Event) => String(data['thid'] ?? data['did'])
export const stateOf = ({ data }: Event) => String(data['state'] ?? data['protocolState'] ?? data['status'])

const keyOf = (walletId: string, subject: string, state: string) => `${walletId} ${subject} ${state}`

export class Webhook {
  readonly url: string
  /** Every delivery, repeats included. */
  readonly deliveries: Delivered[] = []
  /** Each event once, in the order of first arrival. */
  readonly events: Event[] = []
  /** Ids of repeated events with different content. */
  readonly changed: string[] = []
  readonly #texts = new Map<string, string>()
  readonly #byKey = new Map<string, Event>()
  readonly #waiting = new Set<() => void>()
  readonly #server: TestServer

  private constructor(server: TestServer) {
    this.#server = server
    this.url = `${server.url}/events`
  }

  static async open(): Promise<Webhook> {
    const server = await startServer(
      withBody((body, { headers }, response) => {
        webhook.#record(body, headers)
        response.end()
      }),
    )
    const webhook = new Webhook(server)
    return webhook
  }

  /** Waits for the event of a wallet's thread or DID in a state, past or future. Returns its data. */
  async reached(
    { walletId }: { walletId: string },
    subject: string,
    state: string,
    timeoutMs?: number,
  ): Promise<any> {
    const key = keyOf(walletId, subject, state)
    const { data } = await this.#wait(`${state} of ${subject}`, () => this.#byKey.get(key), timeoutMs)
    return data
  }

  /** Waits for a matching event, past or future. */
  waitFor(what: string, fits: (event: Event) => boolean): Promise<Event> {
    return this.#wait(what, () => this.events.find(fits))
  }

  /** Drops all recorded events. */
  forget(): void {
    this.deliveries.length = 0
    this.events.length = 0
    this.#texts.clear()
    this.#byKey.clear()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]()
  }

  #record(body: string, headers: IncomingHttpHeaders): void {
    const event = Event.parse(JSON.parse(body))
    this.deliveries.push({ event, headers })
    const known = this.#texts.get(event.id)
    if (known !== undefined) {
      if (known !== body) this.changed.push(event.id)
      return
    }
    this.#texts.set(event.id, body)
    this.events.push(event)
    const key = keyOf(event.walletId, subjectOf(event), stateOf(event))
    if (!this.#byKey.has(key)) this.#byKey.set(key, event)
    for (const look of this.#waiting) look()
  }

  #wait(what: string, find: () => Event | undefined, timeoutMs = 60_000): Promise<Event> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(look)
        reject(new Error(`${what} did not happen; last events: ${this.#last()}`))
      }, timeoutMs)
      const look = () => {
        const found = find()
        if (!found) return
        clearTimeout(timer)
        this.#waiting.delete(look)
        resolve(found)
      }
      this.#waiting.add(look)
      look()
    })
  }

  #last(): string {
    const last = this.events.slice(-8)
    return JSON.stringify(last.map((event) => [event.type, event.walletId.slice(0, 8), stateOf(event)]))
  }
}
