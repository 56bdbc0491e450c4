/** HTTP servers: bound before anything is opened, answering once there is something to answer with. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StartError } from '../src/base/start-error.ts'

/** How long a stopping server waits for requests that it has accepted. */
const graceMs = 5_000

/** Binds a server. @throws {StartError} when the port is taken or the address is not this machine's; `variable` names what to change. */
export async function bind(host: string, port: number, variable: string): Promise<Server> {
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 65_000 }, refuseYet)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(refusal(error, host, port, variable)))
    server.listen(port, host, resolve)
  })
  return server
}

/** The base URL of a bound server, as a client on this machine reaches it. */
export function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

/** Answers requests from now on. */
export function serve(server: Server, listener: RequestListener): void {
  server.off('request', refuseYet).on('request', listener)
}

/** Whoever asks before there is anybody to answer is told to come again; nobody is left waiting. */
const refuseYet: RequestListener = (_request, response) => {
  response.writeHead(503, { 'retry-after': '1', connection: 'close' }).end()
}

/** Accepts nothing more, answers what was accepted, and closes. */
export async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const force = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(force)
}

function refusal(error: NodeJS.ErrnoException, host: string, port: number, variable: string): StartError {
  if (error.code === 'EADDRINUSE')
    return new StartError(
      `Port ${port} of ${host} is in use. Stop what uses it, or choose another port in ${variable} (0 takes a free one).`,
      5,
      { cause: error },
    )
  return new StartError(`Port ${port} of ${host} cannot be bound (${error.code ?? error.message}). Check AGENT_HOST and ${variable}.`, 1, {
    cause: error,
  })
}
