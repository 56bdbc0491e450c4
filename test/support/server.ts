/**
 * An HTTP server on a free port that counts connections. `openReceiver` (`receiver.ts`) also records
 * requests, `Webhook.open` (`webhook.ts`) reads events.
 */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export type TestServer = {
  port: number
  url: string
  /** Connections accepted so far. */
  connections(): number
  /** The greatest number of connections open at once. */
  peak(): number
  /** Breaks all open connections. */
  cut(): void
  [Symbol.asyncDispose](): Promise<void>
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
    cut: () => {
      for (const socket of open) socket.destroy()
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}

/** A listener of requests with their whole bodies. It ignores requests that break off. */
export const withBody =
  (take: (body: string, request: IncomingMessage, response: ServerResponse) => void): RequestListener =>
  (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => take(Buffer.concat(chunks).toString(), request, response))
  }
