/** The HTTP servers of the daemon: binding, limits for connections and slow clients, stopping. */
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Config } from '../../src/foundation/config/config.ts'
import { StartError } from '../../src/foundation/start-error.ts'
import { systemReason } from '../../src/foundation/system-reason.ts'
import { isLoopbackAddress } from '../../src/foundation/net/addresses.ts'
import { networkOf } from '../middleware/address.ts'
import { maxHeaders } from '../middleware/head.ts'
import { Tally } from './tally.ts'

/** How long a stopping server waits for the responses to requests that it has accepted. */
const graceMs = 5_000

/** How often a stopping server closes idle connections. */
const sweepMs = 25

/**
 * After so many sweeps, it closes connections that have sent nothing: browsers and `fetch` open some in
 * advance.
 */
const sweepsForFirstByte = 10

/** The open connections of the servers. Node.js does not count one without a request as idle. */
const connections = new WeakMap<Server, Set<Socket>>()

/** Those that are counted apart, by address. */
const apart = new WeakMap<Server, Tally>()

/** The certificate of a server with its chain, and its private key, in PEM. */
export type Certificate = { cert: string; key: string }

export type ConnectionLimits = {
  /** Open connections of all clients together. Further connections are closed. */
  total: number
  /** Open connections of one address. `undefined` means no limit. */
  perAddress: number | undefined
  /**
   * The only address, besides loopback ones, at which connections are accepted. `undefined` means every
   * address that is bound.
   */
  onlyAt: string | undefined
  /** The time for the head of a request. */
  headersTimeoutMs: number
  /** The time for a whole request. */
  requestTimeoutMs: number
  /** The time between two requests on one connection. */
  keepAliveTimeoutMs: number
  /** The time in which a connection with a request in progress may transfer nothing. */
  inactivityTimeoutMs: number
  /** How often the server looks for requests that have exceeded their time. */
  checkIntervalMs: number
}

/** The inactivity timeout is longer than the longest wait for an answer (`wait`: one minute). */
const defaultLimits: ConnectionLimits = {
  total: 5_000,
  perAddress: 1_000,
  onlyAt: undefined,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 65_000,
  inactivityTimeoutMs: 120_000,
  checkIntervalMs: 2_000,
}

/**
 * The limits of the configuration. All connections come from the proxy if there is one, so its address has no
 * limit.
 */
export function connectionLimits(
  { AGENT_CONNECTIONS: total, AGENT_CONNECTIONS_PER_ADDRESS: perAddress, AGENT_LAN: lan }: Config,
  isProxied: boolean,
): Partial<ConnectionLimits> {
  const onlyAt = lan === 'off' ? undefined : lan.split('/')[0]
  return { total, perAddress: isProxied ? undefined : perAddress, onlyAt }
}

/**
 * Binds a server, which answers 503 until `serve` is called. With a certificate it speaks HTTPS.
 *
 * @param remedy the sentence that ends the error message.
 * @throws {StartError} when the port is in use or the host is not an address of this machine.
 */
export async function bind(
  host: string,
  port: number,
  remedy: string,
  limits?: Partial<ConnectionLimits>,
  certificate?: Certificate,
): Promise<Server> {
  const server = createHttpServer(limits, certificate)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(toStartError(error, host, port, remedy)))
    server.listen(port, host, resolve)
  })
  return server
}

function createHttpServer(limits: Partial<ConnectionLimits> = {}, certificate?: Certificate): Server {
  const all = { ...defaultLimits, ...limits }
  const times = {
    headersTimeout: all.headersTimeoutMs,
    requestTimeout: all.requestTimeoutMs,
    keepAliveTimeout: all.keepAliveTimeoutMs,
    connectionsCheckingInterval: all.checkIntervalMs,
  }
  const server = certificate
    ? createTlsServer({ ...times, ...certificate, handshakeTimeout: all.headersTimeoutMs }, answerNotReady)
    : createServer(times, answerNotReady)
  server.timeout = all.inactivityTimeoutMs
  // Node.js drops headers above this number silently, so that one more than the limit must be kept to notice
  // it.
  server.maxHeadersCount = maxHeaders + 1
  server.maxConnections = all.total
  server.on('drop', () => server.closeIdleConnections())
  const open = new Set<Socket>()
  connections.set(server, open)
  apart.set(server, new Tally())
  server.on(certificate ? 'secureConnection' : 'connection', (socket: Socket) => {
    // Each pipelined request that waits listens for the end of its connection.
    socket.setMaxListeners(0)
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  if (all.onlyAt !== undefined) refuseAtOthers(server, all.onlyAt)
  if (all.perAddress !== undefined) limitPerAddress(server, all.perAddress)
  return server
}

/** Closes connections to other addresses of this machine, such as those of containers and VPNs. */
function refuseAtOthers(server: Server, address: string): void {
  server.prependListener('connection', (socket: Socket) => {
    const { localAddress: at = '' } = socket
    if (at !== address && !isLoopbackAddress(at)) socket.destroy()
  })
}

/** Closes connections of an address (IPv6: of a /64 network) that has `limit` open connections. */
function limitPerAddress(server: Server, limit: number): void {
  const open = new Tally()
  server.on('connection', (socket) => {
    const address = networkOf(socket.remoteAddress ?? '')
    if (open.of(address) - apart.get(server)!.of(address) >= limit) return void socket.destroy()
    open.add(address)
    socket.once('close', () => open.remove(address))
  })
}

/**
 * Counts an open connection apart from now on, such as a WebSocket, which has limits of its own. It leaves
 * its room to others. Does nothing for the listener of nodes, which has no limits.
 */
export function countApart(server: Server, socket: Socket): void {
  const those = apart.get(server)
  if (!those) return
  const address = networkOf(socket.remoteAddress ?? '')
  those.add(address)
  server.maxConnections++
  socket.once('close', () => {
    those.remove(address)
    server.maxConnections--
  })
}

/** The base URL of a bound server, as a client on this machine reaches it. */
export function urlOf(server: Server, host: string): string {
  return urlAt(host, portOf(server), server instanceof TlsServer)
}

export function urlAt(host: string, port: number, isHttps: boolean): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${isHttps ? 'https' : 'http'}://${name}:${port}`
}

/** The port that a server is bound to. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

export function countConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)))
}

/** Answers requests with `listener` from now on. */
export function serve(server: Server, listener: RequestListener): void {
  server.off('request', answerNotReady).on('request', listener)
}

const answerNotReady: RequestListener = (_request, response) => {
  response.writeHead(503, { 'retry-after': '1', connection: 'close' }).end()
}

/** Accepts no more connections, waits for the responses to accepted requests (5 s at most), and closes. */
export async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
  let sweeps = 0
  const sweep = setInterval(() => {
    server.closeIdleConnections()
    if (++sweeps < sweepsForFirstByte) return
    for (const socket of connections.get(server) ?? []) if (socket.bytesRead === 0) socket.destroy()
  }, sweepMs)
  const force = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearInterval(sweep)
  clearTimeout(force)
}

function toStartError(error: NodeJS.ErrnoException, host: string, port: number, remedy: string): StartError {
  if (error.code === 'EADDRINUSE')
    return new StartError(`Port ${port} of ${host} is in use. ${remedy}`, 5, { cause: error })
  const reason = `Port ${port} of ${host} cannot be bound: ${systemReason(error)}. Check the host (AGENT_HOST, --host).`
  return new StartError(`${reason} ${remedy}`, 1, { cause: error })
}
