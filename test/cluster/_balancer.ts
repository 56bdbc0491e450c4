/** A load balancer for the DIDComm ports of nodes: each connection goes to the next node that accepts one. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export type Balancer = AsyncDisposable & {
  readonly url: string
  /** `targets` returns the URLs of the nodes. */
  serve(targets: () => string[]): void
}

export async function openBalancer(): Promise<Balancer> {
  let targets: () => string[] = () => []
  let turn = 0
  const open = new Set<Socket>()
  const server = createServer((near) => {
    const urls = targets()
    turn++
    open.add(near)
    near.once('close', () => open.delete(near))
    near.on('error', () => near.destroy())
    const attempt = (tries: number) => {
      if (tries === urls.length) return near.destroy()
      const { hostname, port } = new URL(urls[(turn + tries) % urls.length]!)
      const far = connect(Number(port), hostname)
      const refused = () => attempt(tries + 1)
      far.once('error', refused)
      far.once('connect', () => {
        far.off('error', refused)
        far.on('error', () => near.destroy())
        near.once('close', () => far.destroy())
        near.pipe(far).pipe(near)
      })
      return undefined
    }
    attempt(0)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (given) => void (targets = given),
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
