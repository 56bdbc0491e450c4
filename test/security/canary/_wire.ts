/** A proxy that records all bytes in both directions. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export class Wire {
  /** The URL of the proxy. */
  readonly url: string
  readonly #server: ReturnType<typeof createServer>
  readonly #sockets = new Set<Socket>()
  readonly #received: Buffer[] = []
  readonly #sent: Buffer[] = []
  #target = 0

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('connection', (near) => {
      const far = connect(this.#target, '127.0.0.1')
      this.#join(near, far, this.#received)
      this.#join(far, near, this.#sent)
    })
  }

  static async open(): Promise<Wire> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new Wire(server)
  }

  /** Sets the target URL on this machine. */
  leadTo(url: string): void {
    this.#target = Number(new URL(url).port)
  }

  /** Bytes sent to the server. */
  get received(): Buffer {
    return Buffer.concat(this.#received)
  }

  /** Bytes sent by the server. */
  get sent(): Buffer {
    return Buffer.concat(this.#sent)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #join(from: Socket, to: Socket, record: Buffer[]): void {
    this.#sockets.add(from)
    from.on('data', (chunk: Buffer) => {
      record.push(chunk)
      to.write(chunk)
    })
    from.on('end', () => to.end())
    // The error of the connection ends the other one.
    from.on('error', () => to.destroy())
    from.on('close', () => this.#sockets.delete(from))
  }
}
