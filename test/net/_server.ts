/** HTTP servers on free ports that count connections. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { ConnectionOptions, Lookup } from '../../src/net/connector.ts'
import { createHttpClient } from '../../src/net/http-client.ts'

export type TestServer = AsyncDisposable & {
  port: number
  url: string
  /** Connections accepted so far. */
  connections(): number
  /** The greatest number of connections open at once. */
  peak(): number
}

/** Starts a server on a free port of `host`; `await using` stops it. */
export async function startServer(listener: RequestListener, host = '127.0.0.1'): Promise<TestServer> {
  const server = createServer(listener)
  const open = new Set<Socket>()
  let connections = 0
  let peak = 0
  server.on('connection', (socket) => {
    connections += 1
    peak = Math.max(peak, open.add(socket).size)
    socket.on('error', () => undefined).on('close', () => open.delete(socket))
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    connections: () => connections,
    peak: () => peak,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}

/** Starts a server on all addresses of this machine until the test ends. */
export async function openCanary(): Promise<TestServer> {
  const listener: RequestListener = (_, response) => response.end('{}')
  const canary = await startServer(listener, '::').catch(() => startServer(listener, '0.0.0.0'))
  onTestFinished(() => canary[Symbol.asyncDispose]())
  return canary
}

/** Creates a client that is closed when the test ends. */
export function openClient(options: ConnectionOptions) {
  const client = createHttpClient(options)
  onTestFinished(() => client.close())
  return client
}

/** Resolves every name to the same addresses. */
export const always =
  (...addresses: string[]): Lookup =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
