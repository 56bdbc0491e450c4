/** An HTTP server that answers as the test says, and remembers what it was asked. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Receiver = {
  readonly url: string
  /** The bodies that arrived, in order, whatever the answers were. */
  readonly bodies: string[]
  /** The requests that they arrived with. */
  readonly requests: IncomingMessage[]
  [Symbol.asyncDispose](): Promise<void>
}

/** Opens a server; `answer` is given every request's number, from 1 on, and may leave it unanswered. */
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
