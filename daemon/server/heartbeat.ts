/** Pings WebSockets, and closes those that do not answer. */
import type { WebSocket } from 'ws'

/** Each socket is pinged once in this time, and has to answer before its next ping. */
const periodMs = 30_000

/** The turns of a period, each of which pings its part of the sockets: all at once would hold up others. */
const turns = 30

export class Heartbeat {
  readonly #parts = Array.from({ length: turns }, () => new Set<WebSocket>())
  readonly #silent = new WeakSet<WebSocket>()
  #added = 0
  #open = 0
  #turn = 0
  #timer: NodeJS.Timeout | undefined

  add(socket: WebSocket): void {
    const part = this.#parts[this.#added++ % turns]!
    part.add(socket)
    if (++this.#open === 1) this.#timer = setInterval(() => this.beat(), periodMs / turns).unref()
    socket.on('pong', () => this.#silent.delete(socket))
    socket.on('close', () => {
      part.delete(socket)
      if (--this.#open === 0) clearInterval(this.#timer)
    })
  }

  /** Pings the next part of the sockets. */
  beat(): void {
    for (const socket of this.#parts[this.#turn++ % turns]!) {
      if (this.#silent.has(socket)) socket.terminate()
      else socket.ping()
      this.#silent.add(socket)
    }
  }
}
