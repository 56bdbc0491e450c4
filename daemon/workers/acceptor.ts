/**
 * Accepts connections for the workers, and gives each to one of them, by turns.
 *
 * A worker gets the next connection when it has acknowledged the last one. A connection that is not
 * acknowledged stays open here, and goes to another worker if its worker ends, or announces its end. While no
 * worker serves requests, connections wait.
 */
import type { ChildProcess } from 'node:child_process'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { ServerName, ToWorker } from './messages.ts'

/** How long a connection waits for a worker, and how many may wait. */
const [longestWaitMs, maxWaiting] = [10_000, 5_000]

type Accepted = { to: ServerName; socket: Socket }

/** A worker that serves requests, and the connection that it has not acknowledged. */
type Taker = { process: ChildProcess; given: Accepted | undefined }

export class Acceptor {
  readonly #servers: Server[] = []
  readonly #waiting = new Set<Accepted>()
  /** The workers in the order of their turns. */
  #takers: Taker[] = []

  /** Binds a port. Returns its number. @throws as `node:net` does */
  listen(to: ServerName, host: string, port: number): Promise<number> {
    // Nothing of a connection is read here: its worker reads all of it.
    const server = createServer({ pauseOnConnect: true }, (socket) => this.#accept({ to, socket }))
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, () => {
        server.off('error', reject)
        this.#servers.push(server)
        resolve((server.address() as AddressInfo).port)
      })
    })
  }

  /** A worker has begun to serve requests. */
  add(process: ChildProcess): void {
    this.#takers.push({ process, given: undefined })
    this.#give()
  }

  /** A worker has acknowledged its last connection, of which it has a descriptor of its own. */
  acknowledged(process: ChildProcess): void {
    const taker = this.#takers.find((each) => each.process === process)
    taker?.given?.socket.destroy()
    if (taker) taker.given = undefined
    this.#give()
  }

  /** A worker has ended, or takes no more connections. */
  remove(process: ChildProcess): void {
    const taker = this.#takers.find((each) => each.process === process)
    this.#takers = this.#takers.filter((each) => each !== taker)
    if (taker?.given) this.#wait(taker.given)
    this.#give()
  }

  /** Accepts no more connections. Those that wait are closed. */
  close(): void {
    for (const server of this.#servers) server.close()
    for (const { socket } of this.#waiting) socket.destroy()
  }

  #accept(accepted: Accepted): void {
    const { socket } = accepted
    socket.on('error', () => socket.destroy())
    if (this.#waiting.size >= maxWaiting) return void socket.destroy()
    this.#wait(accepted)
    this.#give()
  }

  #wait(accepted: Accepted): void {
    const { socket } = accepted
    this.#waiting.add(accepted)
    socket.setTimeout(longestWaitMs, () => socket.destroy())
    socket.once('close', () => this.#waiting.delete(accepted))
  }

  /** Gives the connections that wait to workers that are free. */
  #give(): void {
    for (const accepted of this.#waiting) {
      const taker = this.#takers.find(({ process, given }) => !given && process.connected)
      if (!taker) return
      this.#waiting.delete(accepted)
      this.#takers = [...this.#takers.filter((each) => each !== taker), taker]
      taker.given = accepted
      accepted.socket.setTimeout(0)
      const message: ToWorker = { type: 'connection', to: accepted.to }
      // A worker that cannot be reached ends, and `remove` is called.
      taker.process.send(message, accepted.socket, { keepOpen: true }, () => undefined)
    }
  }
}
