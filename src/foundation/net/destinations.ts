/**
 * Limits requests to other servers: how many run at a time for each, and none while a server is down.
 *
 * A server is an origin. After several requests without a response, it counts as down. After a pause, one
 * request tests whether it is up again. Any response counts, whatever its status. Requests are never queued
 * here: without a free connection, a caller gets an error at once.
 */
import { LRUCache } from 'lru-cache'
import { UnreachableError } from './unreachable-error.ts'

/** Requests to one server at a time. The HTTP client has as many connections to it. */
const maxRequests = 16

/** Requests in a row without a response before a server counts as down. */
const maxFailures = 5

/** The pause of a server that is down: an eighth of its outage, within these limits. */
const shortestPauseMs = 1_000
const longestPauseMs = 30_000

/** After this time a waiting caller tries again, even if no connection became free. */
const longestWaitMs = 5_000

/** Servers that are remembered. A forgotten server counts as up. */
const maxServers = 10_000

/** All connections to a server are in use. `free` resolves when one may be free. */
export class NoFreeConnectionError extends Error {
  override name = 'NoFreeConnectionError'
  readonly free: Promise<void>

  constructor(origin: string, free: Promise<void>) {
    super(`all connections to ${origin} are in use`)
    this.free = free
  }
}

/** The server is down, and gets no requests for `waitMs` more. */
export class ServerDownError extends Error {
  override name = 'ServerDownError'
  readonly waitMs: number

  constructor(origin: string, failures: number, waitMs: number) {
    super(`${origin} did not answer ${failures} times in a row, and gets no requests for a while`)
    this.waitMs = waitMs
  }
}

type Server = {
  origin: string
  running: number
  /** Requests in a row without a response. */
  failures: number
  downSince: number
  /** The end of the pause; 0 for a server that is up. */
  pausedUntil: number
  /** Callers that wait for a connection, by wallet. Wallets get connections in turn. */
  waiting: Map<string, Set<() => void>>
}

/** Admits requests to other servers. */
export type Destinations = {
  /**
   * Runs a request to `url` for a wallet. Wallets share the connections to a server fairly.
   *
   * @throws {NoFreeConnectionError | ServerDownError} without having run the request, and the errors of the
   * request
   */
  run: <T>(url: string, walletId: string, request: () => Promise<T>) => Promise<T>
}

/** `now` returns milliseconds of a monotonic clock. */
export function createDestinations(now = () => performance.now()): Destinations {
  const servers = new LRUCache<string, Server>({ max: maxServers })

  function find(origin: string): Server {
    const known = servers.get(origin)
    if (known) return known
    const server = { origin, running: 0, failures: 0, downSince: 0, pausedUntil: 0, waiting: new Map() }
    servers.set(origin, server)
    return server
  }

  return {
    async run(url, walletId, request) {
      const server = find(URL.canParse(url) ? new URL(url).origin : url)
      const pauseMs = server.pausedUntil - now()
      if (pauseMs > 0) throw new ServerDownError(server.origin, server.failures, pauseMs)
      if (freeConnections(server) <= 0)
        throw new NoFreeConnectionError(server.origin, waitForConnection(server, walletId))
      server.running++
      try {
        const answer = await request()
        Object.assign(server, { failures: 0, pausedUntil: 0 })
        return answer
      } catch (error) {
        if (isOutage(error)) noteFailure(server, now())
        throw error
      } finally {
        server.running--
        notifyWaiting(server, now())
      }
    },
  }
}

/** While a request tests whether a server is up again, there is only its connection. */
function freeConnections({ pausedUntil, running }: Server): number {
  return (pausedUntil === 0 ? maxRequests : 1) - running
}

/** Requests that failed together count once. */
function noteFailure(server: Server, now: number): void {
  if (server.failures++ === 0) server.downSince = now
  if (server.failures < maxFailures || server.pausedUntil > now) return
  const pauseMs = Math.max(shortestPauseMs, (now - server.downSince) / 8)
  server.pausedUntil = now + Math.min(longestPauseMs, pauseMs)
}

function waitForConnection({ waiting }: Server, walletId: string): Promise<void> {
  return new Promise((resolve) => {
    const callers = waiting.get(walletId) ?? new Set()
    waiting.set(walletId, callers)
    const leave = () => {
      clearTimeout(timer)
      callers.delete(leave)
      if (callers.size === 0 && waiting.get(walletId) === callers) waiting.delete(walletId)
      resolve()
    }
    const timer = setTimeout(leave, longestWaitMs).unref()
    callers.add(leave)
  })
}

/**
 * Notifies a waiting caller for each free connection, of one wallet after the other; all callers when the
 * server is down.
 */
function notifyWaiting(server: Server, now: number): void {
  const { waiting } = server
  for (let free = server.pausedUntil > now ? Infinity : freeConnections(server); free > 0; free--) {
    const [first] = waiting
    if (!first) return
    const [walletId, callers] = first
    const [leave] = callers
    waiting.delete(walletId)
    if (callers.size > 1) waiting.set(walletId, callers)
    leave!()
  }
}

/** Whether a server could not be reached, for a reason that may pass. */
export function isOutage(error: unknown): boolean {
  return error instanceof UnreachableError && ['no-such-host', 'refused', 'timeout'].includes(error.code)
}
