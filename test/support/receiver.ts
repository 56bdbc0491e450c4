/** An HTTP server with scripted replies that records its requests. For events of agents: `webhook.ts`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { startServer, withBody } from './server.ts'
import { until } from './tenants.ts'

export type Receiver = {
  readonly url: string
  /** The received bodies, in order, with any reply. */
  readonly bodies: string[]
  /** The received requests. */
  readonly requests: IncomingMessage[]
  /** Resolves when at least this number of requests have arrived. */
  arrived(count: number): Promise<unknown>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens a server. `answer` gets the number of each request, from 1, and may not reply. Requests for other
 * paths than those of `path` are refused, and not recorded: an agent may repeat what it sends to a server of
 * an earlier test, whose port this one has now.
 */
export async function openReceiver(
  answer: (response: ServerResponse, count: number) => void = (response) => response.end(),
  path = '/',
): Promise<Receiver> {
  const bodies: string[] = []
  const requests: IncomingMessage[] = []
  const server = await startServer(
    withBody((body, request, response) => {
      if (!request.url!.startsWith(path)) return void response.writeHead(404).end()
      requests.push(request)
      answer(response, bodies.push(body))
    }),
  )
  return {
    ...server,
    url: server.url + path,
    bodies,
    requests,
    arrived: (count) =>
      until(
        `${count} requests`,
        () => Promise.resolve(bodies.length),
        (length) => length >= count,
      ),
  }
}
