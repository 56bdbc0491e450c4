/** What drives the demonstration: a webhook receiver to which both daemons report every change of a state (service §6). */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createChanges, toChange, type Changes } from './changes.ts'
import { names, type Name } from './party.ts'

const defaultPatienceMs = 10_000

/** Receives the events of both parties, each at a path of its own. */
export class Receiver {
  readonly #server: Server
  readonly changes: Changes

  private constructor(server: Server, patienceMs: number) {
    this.#server = server
    this.changes = createChanges(patienceMs)
    server.on('request', (request, response) => {
      this.#receive(request).then(
        (status) => response.writeHead(status).end(),
        () => response.writeHead(400).end(),
      )
    })
  }

  /** Opens a receiver on a free port of this machine; a change may take `patienceMs`. */
  static async open(patienceMs = defaultPatienceMs): Promise<Receiver> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Receiver(server, patienceMs)
  }

  /** The webhook URL of a party. */
  urlOf(who: Name): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${who}`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #receive(request: IncomingMessage): Promise<number> {
    const who = names.find((name) => request.url === `/${name}`)
    if (!who) return 404
    this.changes.note(toChange(who, JSON.parse(await text(request))))
    return 200
  }
}
