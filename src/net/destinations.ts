/**
 * Limits requests to other servers: how many run at a time for each, and none while a server is down.
 *
 * A server is an origin. After several requests without a response, it counts as down; after a pause, one
 * request tests whether it is back. Any response counts, whatever its status. Requests are never queued here:
 * a caller without a slot gets an error at once.
 */
import { LRUCache } from 'lru-cache'
import { UnreachableError } from './unreachable-error.ts'

/** Requests to one server at a time. The HTTP client has as many connections to it. */
const placesOfServer = 16

/** Requests in a row without a response before a server counts as down. */
const deadAfter = 5

/** The pause of a server that is down: an eighth of its outage, within these limits. */
const shortestRestMs = 1_000
const longestRestMs = 30_000

/** The longest time until a caller without a slot tries again when no slot becomes free. */
const patienceMs = 5_000

/** Servers that are remembered. A forgotten server counts as up. */
const remembered = 10_000

/** All slots of a server are in use. `free` resolves when one may be available. */
export class CrowdedError extends Error {
  override name = 'CrowdedError'
  readonly free: Promise<void>

  constructor(origin: string, free: Promise<void>) {
    super(`${origin} is sent as much as it may be sent at a time`)
    this.free = free
  }
}

/** The server is down, and gets no requests for `waitMs` more. */
export class LeftAloneError extends Error {
  override name = 'LeftAloneError'
  readonly waitMs: number

  constructor(origin: string, silences: number, waitMs: number) {
    super(`${origin} has not answered ${silences} times in a row and is left alone for a while`)
    this.waitMs = waitMs
  }
}

type Server = {
  origin: string
  underWay: number
  silences: number
  /** When the outage began. */
  silentSince: number
  /** The end of the pause; 0 for a server that is up. */
  restsUntil: number
  /** Callers that wait for a slot, by party. Parties get slots in turn. */
  waiting: Map<string, Set<() => void>>
}

/** Admits requests to other servers. */
export type Destinations = {
  /**
   * Runs a request to `url` for a party. Parties share the slots of a server fairly.
   *
   * @throws {CrowdedError} or {LeftAloneError} without having run the request, and the errors of the request
   */
  visit: <T>(url: string, party: string, request: () => Promise<T>) => Promise<T>
}

/** `now` returns milliseconds of a monotonic clock. */
export function createDestinations(now = () => performance.now()): Destinations {
  const servers = new LRUCache<string, Server>({ max: remembered })

  function find(origin: string): Server {
    const known = servers.get(origin)
    if (known) return known
    const server = { origin, underWay: 0, silences: 0, silentSince: 0, restsUntil: 0, waiting: new Map() }
    servers.set(origin, server)
    return server
  }

  return {
    async visit(url, party, request) {
      const server = find(originOf(url))
      mustHavePlace(server, party, now())
      server.underWay++
      try {
        const answer = await request()
        Object.assign(server, { silences: 0, restsUntil: 0 })
        return answer
      } catch (error) {
        if (isSilence(error)) noteSilence(server, now())
        throw error
      } finally {
        server.underWay--
        tellWhoWaits(server, now())
      }
    },
  }
}

/** One slot while a request tests whether a server is back. */
function places({ restsUntil }: Server): number {
  return restsUntil === 0 ? placesOfServer : 1
}

function mustHavePlace(server: Server, party: string, now: number): void {
  const restMs = server.restsUntil - now
  if (restMs > 0) throw new LeftAloneError(server.origin, server.silences, restMs)
  if (server.underWay >= places(server)) throw new CrowdedError(server.origin, wait(server, party))
}

/** Requests that failed together count once. */
function noteSilence(server: Server, now: number): void {
  if (server.silences++ === 0) server.silentSince = now
  if (server.silences < deadAfter || server.restsUntil > now) return
  server.restsUntil = now + Math.min(longestRestMs, Math.max(shortestRestMs, (now - server.silentSince) / 8))
}

function wait({ waiting }: Server, party: string): Promise<void> {
  return new Promise((resolve) => {
    const own = waiting.get(party) ?? new Set()
    waiting.set(party, own)
    const leave = () => {
      clearTimeout(timer)
      own.delete(leave)
      if (own.size === 0 && waiting.get(party) === own) waiting.delete(party)
      resolve()
    }
    const timer = setTimeout(leave, patienceMs).unref()
    own.add(leave)
  })
}

/**
 * As many waiting callers as there are free slots, one of each party in turn; all of them when the server is
 * down.
 */
function tellWhoWaits(server: Server, now: number): void {
  const isDead = server.restsUntil > now
  for (let free = isDead ? Infinity : places(server) - server.underWay; free > 0; free--) {
    const [first] = server.waiting
    if (!first) return
    const [party, own] = first
    const [leave] = own
    server.waiting.delete(party)
    if (own.size > 1) server.waiting.set(party, own)
    leave!()
  }
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url
}

function isSilence(error: unknown): boolean {
  return error instanceof UnreachableError && ['no-such-host', 'refused', 'timeout'].includes(error.code)
}
