/** The network between a node and its database, which can be cut. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export type Link = AsyncDisposable & {
  readonly port: number
  /** How many connections there have been. */
  readonly connections: number
  /**
   * Drops what is on the way, and everything from now on. Connections stay open without an answer, as without
   * a network.
   */
  cut(): void
  /** Connections of before are closed. New ones work. */
  mend(): void
}

/** `findPort` returns the port of the database, for each new connection. */
export async function openLink(findPort: () => number): Promise<Link> {
  const open = new Set<Socket>()
  let isCut = false
  let connections = 0
  const server = createServer((near) => {
    connections++
    const far = connect(findPort(), '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from)
      from.on('data', (chunk) => isCut || to.write(chunk))
      from.on('error', () => to.destroy())
      from.once('close', () => {
        open.delete(from)
        if (!isCut) to.destroy()
      })
    }
  })
  const closeAll = () => {
    for (const socket of open) socket.destroy()
  }
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections
    },
    cut: () => void (isCut = true),
    mend() {
      closeAll()
      isCut = false
    },
    async [Symbol.asyncDispose]() {
      closeAll()
      server.close()
      await once(server, 'close')
    },
  }
}
