/** The IPC channel of a worker to its supervisor. */
import { EventEmitter, once } from 'node:events'
import { Socket } from 'node:net'
import { type FromWorker, type ServerName, type Shared, ToWorker } from './messages.ts'

type Messages = { [Type in ToWorker['type']]: [Extract<ToWorker, { type: Type }>] }

type Accept = (to: ServerName, socket: Socket) => void

export class Channel {
  readonly #events = new EventEmitter()
  #onConnection: Accept = (_to, socket) => void socket.destroy()
  #isEnding = false

  constructor() {
    process.on('message', (raw, socket: unknown) => {
      const { data: message } = ToWorker.safeParse(raw)
      if (message?.type === 'connection') this.#accept(message.to, socket)
      else if (message) this.#events.emit(message.type, message)
    })
  }

  /** A channel that has closed belongs to a supervisor that has ended: the worker ends too. */
  send(message: FromWorker): void {
    if (process.connected) process.send!(message, undefined, undefined, () => undefined)
  }

  /** Sends a message to another worker; without `to`, to all others. */
  relay(message: Shared, to?: number): void {
    this.send({ type: 'relay', message, ...(to !== undefined && { to }) })
  }

  onConnection(accept: Accept): void {
    this.#onConnection = accept
  }

  on<Type extends ToWorker['type']>(type: Type, listener: (message: Messages[Type][0]) => void): void {
    this.#events.on(type, listener)
  }

  /** Takes no more connections: the supervisor gives them to others, also those that are on their way here. */
  end(): void {
    this.send({ type: 'ending' })
    this.#isEnding = true
  }

  async next<Type extends ToWorker['type']>(type: Type): Promise<Messages[Type][0]> {
    const [message] = await once(this.#events, type)
    return message as Messages[Type][0]
  }

  /** There is no socket if the client has disconnected. The acknowledgement is sent before anything is read. */
  #accept(to: ServerName, socket: unknown): void {
    if (!this.#isEnding) this.send({ type: 'accepted' })
    if (!(socket instanceof Socket)) return
    // This closes the descriptor of this process only.
    if (this.#isEnding) socket.destroy()
    else this.#onConnection(to, socket)
  }
}
