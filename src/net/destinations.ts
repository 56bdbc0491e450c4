/**
 * Other agents' servers, one by one: how many requests each gets at a time, and none while it is dead.
 *
 * A server is what has one origin. One that does not answer, several times in a row, is left alone for a while; then one request finds out
 * whether it is back. An answer of any status is a sign of life. Nobody waits in here: who cannot be let in is told at once.
 */
import { LRUCache } from 'lru-cache'
import { UnreachableError } from './unreachable-error.ts'

/** Requests on their way to one server; the HTTP client has as many connections to it. */
const placesOfServer = 16

/** Requests in a row that end without an answer before a server counts as dead. */
const deadAfter = 5

/** How long a dead server is left alone: an eighth of the time that it has been silent for, within these limits, so that it is found soon after it is back. */
const shortestRestMs = 1_000
const longestRestMs = 30_000

/** How long somebody who was turned away stays away at most, when nobody tells of a place. */
const patienceMs = 5_000

/** Servers that are remembered; who is forgotten counts as alive. */
const remembered = 10_000

/** All places are taken; `free` comes when there may be one. */
export class CrowdedError extends Error {
  override name = 'CrowdedError'
  readonly free: Promise<void>

  constructor(origin: string, free: Promise<void>) {
    super(`${origin} is sent as much as it may be sent at a time`)
    this.free = free
  }
}

/** The server is dead, and is left alone for `waitMs` more. */
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
  /** Since when there has been nothing but silence. */
  silentSince: number
  /** Until when it is left alone; 0 for one that counts as alive. */
  restsUntil: number
  /** Who waits for a place, by party; parties take turns. */
  waiting: Map<string, Set<() => void>>
}

/** Lets requests to other agents' servers in, or not. */
export type Destinations = {
  /**
   * Does a request to `url` for a party, which is whoever shall not be held up by others' requests.
   *
   * @throws {CrowdedError} or {LeftAloneError} without having done anything; and whatever the request throws.
   */
  visit: <T>(url: string, party: string, request: () => Promise<T>) => Promise<T>
}

/** `now` counts milliseconds, and is not set while it does. */
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

/** One place while it is to be found out whether a server is back. */
function places({ restsUntil }: Server): number {
  return restsUntil === 0 ? placesOfServer : 1
}

function mustHavePlace(server: Server, party: string, now: number): void {
  const restMs = server.restsUntil - now
  if (restMs > 0) throw new LeftAloneError(server.origin, server.silences, restMs)
  if (server.underWay >= places(server)) throw new CrowdedError(server.origin, wait(server, party))
}

/** Requests that were under way together are silent together: that is one silence more, and one rest. */
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

/** As many as there are places, one of each party in turn; all of them when the server has died, to be told so. */
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
