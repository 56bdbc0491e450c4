/** HTTP servers: bound before anything is opened, answering once there is something to answer with. */
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { Server as TcpServer, type AddressInfo } from 'node:net'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../src/base/config.ts'
import { StartError } from '../../src/base/start-error.ts'
import { systemReason } from '../../src/base/system-reason.ts'
import { mostHeaders } from '../middleware/head.ts'
import { limitConnections, usualLimits, type ConnectionLimits } from './connections.ts'

/** How long a stopping server waits for requests that it has accepted. */
const graceMs = 5_000

/** How often a stopping server looks for connections that have nothing more to do. */
const sweepMs = 25

/** How long, and how many times that somebody looked, nobody must have come before a stopping server closes its door; and how long that takes at most. */
const quietMs = 150
const quietLooks = 50
const longestDrainMs = 2_000

/** What a server is answering now; and, when it is stopping: that each connection ends with its next answer, and what is answered later. */
type Duty = {
  answering: Set<ServerResponse>
  connections: number
  isStopping: boolean
  held?: (() => void)[] | undefined
}
const duties = new WeakMap<Server, Duty>()

/** Binds a server. @throws {StartError} when the port is taken or the address is not this machine's; `wayOut` is a sentence that ends its message. */
export async function bind(
  host: string,
  port: number,
  wayOut: string,
  own: Partial<ConnectionLimits> = {},
): Promise<Server> {
  const limits = { ...usualLimits, ...own }
  const {
    requestMs: requestTimeout,
    headersMs: headersTimeout,
    keepAliveMs: keepAliveTimeout,
    checkMs: connectionsCheckingInterval,
  } = limits
  const server = createServer(
    { requestTimeout, headersTimeout, keepAliveTimeout, connectionsCheckingInterval },
    refuseYet,
  )
  server.timeout = limits.stallMs
  // One more than there may be: Node.js leaves out those above it without a word.
  server.maxHeadersCount = mostHeaders + 1
  limitConnections(server, limits)
  const duty: Duty = { answering: new Set(), connections: 0, isStopping: false }
  duties.set(server, duty)
  server.on('connection', () => duty.connections++)
  server.prependListener('request', (_request, response) => {
    if (duty.isStopping) response.shouldKeepAlive = false
    duty.answering.add(response)
    // Several parts of the daemon, koa, and what pipes a stream into an answer each listen for its end.
    response.setMaxListeners(20)
    response.once('close', () => duty.answering.delete(response))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(refusal(error, host, port, wayOut)))
    server.listen(port, host, resolve)
  })
  return server
}

/** The limits that the operator has set; a proxy that stands before a server has all of its connections. */
export function connectionLimits(
  { AGENT_CONNECTIONS: inAll, AGENT_CONNECTIONS_PER_ADDRESS: ofAddress }: Config,
  isProxied: boolean,
): Partial<ConnectionLimits> {
  return { inAll, ofAddress: isProxied ? undefined : ofAddress }
}

/** The base URL of a bound server, as a client on this machine reaches it. */
export function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

/** Answers requests from now on. */
export function serve(server: Server, listener: RequestListener): void {
  const duty = duties.get(server)
  server.off('request', refuseYet).on('request', (request, response) => {
    if (duty?.held) duty.held.push(() => listener(request, response))
    else listener(request, response)
  })
}

/** Whoever asks before there is anybody to answer is told to come again; nobody is left waiting. */
const refuseYet: RequestListener = (_request, response) => {
  response.writeHead(503, { 'retry-after': '1', connection: 'close' }).end()
}

/**
 * Accepts no more connections, answers what was accepted, and closes.
 *
 * Every answer from now on ends its connection. A connection without a request is kept for `lingerMs`, since its client may be sending one
 * right now, which would come to nothing.
 */
export async function stop(server: Server, { lingerMs = 0 } = {}): Promise<void> {
  const duty = duties.get(server)!
  duty.isStopping = true
  for (const response of duty.answering) response.shouldKeepAlive = false
  if (lingerMs > 0) await drain(duty)
  // The HTTP server's own `close` would close connections without a request at once.
  const closed = new Promise<void>((resolve) => TcpServer.prototype.close.call(server, () => resolve()))
  for (const answer of duty.held?.splice(0) ?? []) answer()
  duty.held = undefined
  const force = setTimeout(() => server.closeAllConnections(), graceMs)
  await Promise.race([closed, sleep(lingerMs)])
  server.closeIdleConnections()
  const sweep = setInterval(() => server.closeIdleConnections(), sweepMs)
  await closed
  clearInterval(sweep)
  clearTimeout(force)
}

/**
 * Lets in who is connected already: the system resets those who wait at a door that closes, and Node.js lets one in at a time. What they
 * ask for is answered afterwards; if it were now, they would be back with the next request.
 */
async function drain(duty: Duty): Promise<void> {
  duty.held = []
  const start = performance.now()
  let [quietSince, looks, known] = [start, 0, duty.connections]
  for (
    let now = start;
    (now - quietSince < quietMs || looks < quietLooks) && now - start < longestDrainMs;
    now = performance.now()
  ) {
    if (looks > 0) await sleep(1)
    // Node.js has just looked at the door when this comes back: whoever closes it now is quick.
    await turn()
    looks++
    if (duty.connections !== known) [quietSince, looks, known] = [performance.now(), 0, duty.connections]
  }
}

function refusal(error: NodeJS.ErrnoException, host: string, port: number, wayOut: string): StartError {
  if (error.code === 'EADDRINUSE')
    return new StartError(`Port ${port} of ${host} is in use. ${wayOut}`, 5, { cause: error })
  const reason = `Port ${port} of ${host} cannot be bound: ${systemReason(error)}. Check the host (AGENT_HOST, --host).`
  return new StartError(`${reason} ${wayOut}`, 1, { cause: error })
}
