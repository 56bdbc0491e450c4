/**
 * Connections that lead only where they may.
 *
 * That is decided when a connection is made, on the address that name resolution has given, because a check of the
 * URL's text is fooled by other spellings of an address and by names that resolve differently the second time.
 */
import { lookup as lookUp } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { isLoopbackAddress, isPublicAddress } from './addresses.ts'
import { UnreachableError } from './unreachable-error.ts'

/** Resolves a host name to its addresses. */
export type Lookup = (hostname: string) => Promise<{ address: string; family: number }[]>

/** Which addresses may be called: public ones, those and this machine's own, or all. */
export type Reach = 'public' | 'loopback' | 'any'

export type ConnectionOptions = {
  allow: Reach
  /** Name resolution; the operating system's when absent. */
  lookup?: Lookup
  /** Connections kept to one server at a time; 16 when absent. */
  connections?: number
}

const connectTimeoutMs = 5_000
const keepAliveMs = 10_000

/**
 * Makes an undici agent whose requests fail with an `UnreachableError` of code `address-not-allowed` where they lead astray.
 *
 * It sets no time limit but the one for connecting: undici's are coarse and start anew with every chunk, so the caller sets one over all.
 */
export function createGuardedDispatcher({ allow, lookup = lookUpAll, connections = 16 }: ConnectionOptions): Agent {
  const limits = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: keepAliveMs, keepAliveMaxTimeout: keepAliveMs }
  return new Agent({ connect: guardedConnector(allow, lookup), connections, ...limits })
}

/** Connects to the address in the URL, or to one that its host name resolves to, if it is allowed. */
function guardedConnector(allow: Reach, lookup: Lookup): buildConnector.connector {
  const isAllowed = (ip: string) => allow === 'any' || isPublicAddress(ip) || (allow === 'loopback' && isLoopbackAddress(ip))
  const refusal = (host: string) =>
    new UnreachableError(
      'address-not-allowed',
      `${host} is an address of a private network or of this machine, which this agent does not call`,
    )

  const guardedLookup: LookupFunction = (hostname, { all, family }, callback) => {
    lookup(hostname).then(
      (found) => {
        const usable = found.filter((entry) => isAllowed(entry.address) && (!family || family === entry.family))
        if (usable.length === 0) callback(refusal(hostname), [])
        else if (all) callback(null, usable)
        else callback(null, usable[0]!.address, usable[0]!.family)
      },
      (error: Error) => callback(error, []),
    )
  }

  const connect = buildConnector({ lookup: guardedLookup, timeout: connectTimeoutMs })
  return (options, callback) => {
    // Node resolves no name that already is an address, so it has to be looked at here.
    if (isIP(options.hostname) && !isAllowed(options.hostname)) queueMicrotask(() => callback(refusal(options.hostname), null))
    else connect(options, callback)
  }
}

function lookUpAll(hostname: string): ReturnType<Lookup> {
  return lookUp(hostname, { all: true })
}
