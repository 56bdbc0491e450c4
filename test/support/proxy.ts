/** The fixed address of a server that changes, such as an agent that restarts on another port. */
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { startServer } from './server.ts'

export type Proxy = Awaited<ReturnType<typeof openProxy>>

/** Opens a proxy. It answers 503 until `leadTo` names a server; `headersOf` gives the headers that it sends. */
export async function openProxy(
  headersOf: (incoming: IncomingMessage) => IncomingHttpHeaders = ({ headers }) => headers,
) {
  let target: string | undefined
  const server = await startServer((incoming, outgoing) => {
    if (target === undefined) return outgoing.writeHead(503).end()
    const options = { method: incoming.method!, headers: headersOf(incoming) }
    const onward = request(target + incoming.url, options, (response) => {
      outgoing.writeHead(response.statusCode!, response.headers)
      response.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    return incoming.pipe(onward)
  })
  return { ...server, leadTo: (url: string | undefined) => void (target = url) }
}
