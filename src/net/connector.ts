/**
 * Connections that lead only where they may.
 *
 * That is decided when a connection is made, on the address that name resolution has given, because a check of the
 * URL's text is fooled by other spellings of an address and by names that resolve differently the second time.
 */
import { lookup as lookUp } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { createPolicy, type Limits, type Policy } from './policy.ts'

/** Resolves a host name to its addresses. */
export type Lookup = (hostname: string) => Promise<{ address: string; family: number }[]>

export type ConnectionOptions = Limits & {
  /** Name resolution; the operating system's when absent. */
  lookup?: Lookup
  /** Connections kept to one server at a time; 16 when absent. */
  connections?: number
}

const connectTimeoutMs = 5_000
const keepAliveMs = 10_000

/**
 * Makes an undici agent whose requests fail with an `UnreachableError` of code `address-not-allowed`, `host-denied` or `port-not-allowed`
 * where they lead astray.
 *
 * It sets no time limit but the one for connecting: undici's are coarse and start anew with every chunk, so the caller sets one over all.
 */
export function createGuardedDispatcher({
  lookup = lookUpAll,
  connections = 16,
  ...limits
}: ConnectionOptions): Agent {
  const times = {
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
  }
  return new Agent({ connect: guardedConnector(createPolicy(limits), lookup), connections, ...times })
}

/** Connects to the address in the URL, or to one that its host name resolves to, if it is allowed. */
function guardedConnector(policy: Policy, lookup: Lookup): buildConnector.connector {
  const guardedLookup: LookupFunction = (hostname, { all, family }, callback) => {
    lookup(hostname).then(
      (found) => {
        const judged = found.map((entry) => ({
          ...entry,
          refusal: policy.judgeAddress(hostname, entry.address),
        }))
        const usable = judged.filter((entry) => !entry.refusal && (!family || family === entry.family))
        const refusal = judged.find((entry) => entry.refusal)?.refusal
        if (usable.length === 0) callback(refusal ?? noAddress(), [])
        else if (all) callback(null, usable)
        else callback(null, usable[0]!.address, usable[0]!.family)
      },
      (error: Error) => callback(error, []),
    )
  }

  const connect = buildConnector({ lookup: guardedLookup, timeout: connectTimeoutMs })
  return (options, callback) => {
    // Node resolves no name that already is an address, so it has to be looked at here.
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80)
    const refusal = policy.judgeHost(options.hostname, port)
    if (refusal) queueMicrotask(() => callback(refusal, null))
    else connect(options, callback)
  }
}

function noAddress(): Error {
  return Object.assign(new Error('the name has no address'), { code: 'ENOTFOUND' })
}

function lookUpAll(hostname: string): ReturnType<Lookup> {
  return lookUp(hostname, { all: true })
}
