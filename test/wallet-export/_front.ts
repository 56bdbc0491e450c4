/**
 * The public address of an agent: a proxy that forwards to the current agent, or refuses while there is none.
 */
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestAgent } from '../_agent.ts'

export type Front = {
  restUrl: string
  didcommUrl: string
  leadTo(agent: Pick<TestAgent, 'url' | 'didcommUrl'> | undefined): void
  [Symbol.asyncDispose](): Promise<void>
}

export async function openFront(): Promise<Front> {
  let behind: Pick<TestAgent, 'url' | 'didcommUrl'> | undefined
  const servers = await Promise.all([open(() => behind?.url), open(() => behind?.didcommUrl)])
  const [restUrl, didcommUrl] = servers.map(
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  )
  return {
    restUrl: restUrl!,
    didcommUrl: didcommUrl!,
    leadTo: (agent) => (behind = agent),
    async [Symbol.asyncDispose]() {
      await Promise.all(
        servers.map((server) => new Promise((resolve) => server.close(resolve).closeAllConnections())),
      )
    },
  }
}

async function open(target: () => string | undefined): Promise<Server> {
  const server = createServer((asked, answer) => {
    const base = target()
    if (base === undefined) return answer.writeHead(503).end()
    const headers = { ...asked.headers, host: new URL(base).host }
    const passed = request(base + asked.url, { method: asked.method!, headers }, (response) => {
      answer.writeHead(response.statusCode!, response.headers)
      response.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    asked.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
