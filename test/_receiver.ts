/** An HTTP server with scripted replies that records its requests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Receiver = {
  readonly url: string
  /** The received bodies, in order, with any reply. */
  readonly bodies: string[]
  /** The received requests. */
  readonly requests: IncomingMessage[]
  [Symbol.asyncDispose](): Promise<void>
}

/** Opens a server. `answer` gets the number of each request, from 1, and may not reply. */
export async function openReceiver(
  answer: (response: ServerResponse, count: number) => void = (response) => response.end(),
): Promise<Receiver> {
  const bodies: string[] = []
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      requests.push(request)
      answer(response, bodies.push(Buffer.concat(chunks).toString()))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    bodies,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
