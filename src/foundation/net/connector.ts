/**
 * Connections only to allowed addresses.
 *
 * The check runs when a connection is made, on the resolved address. A check of the URL would miss other
 * spellings of an address, and names that resolve differently the second time (DNS rebinding).
 */
import { lookup as lookUp } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import type { Agent, buildConnector } from 'undici'
import type { OwnServers } from './https.ts'
import { createPolicy, type Limits, type Policy } from './policy.ts'

/** Resolves a host name to its addresses. */
export type Lookup = (hostname: string) => Promise<{ address: string; family: number }[]>

export type ConnectionOptions = Limits & {
  /** Name resolution. Default: that of the operating system. */
  lookup?: Lookup
  /** The servers of this agent, whose authority only this agent trusts. */
  own?: OwnServers | undefined
  /** Connections to one server that are kept. Default: 16. */
  connections?: number
}

const connectTimeoutMs = 5_000
const keepAliveMs = 10_000

/**
 * Creates an undici agent. A request to an address that is not allowed fails with an `UnreachableError` with
 * the code `address-not-allowed`, `host-denied` or `port-not-allowed`.
 *
 * It limits only the time to connect. The time limits of undici restart with every chunk, so the caller
 * limits the whole request.
 */
export async function createGuardedDispatcher({
  lookup = lookUpAll,
  connections = 16,
  own,
  ...limits
}: ConnectionOptions): Promise<Agent> {
  const { Agent, buildConnector } = await import('undici')
  const policy = createPolicy(limits)
  const times = {
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
  }
  const how = { lookup: guardedLookup(policy, lookup), timeout: connectTimeoutMs }
  const toOthers = buildConnector(how)
  const toOwn = own && buildConnector({ ...how, ca: own.authority })
  const connect: buildConnector.connector = (options, callback) =>
    (toOwn && own.hosts.includes(options.host ?? '') ? toOwn : toOthers)(options, callback)
  return new Agent({ connect: guardedConnector(policy, connect), connections, ...times })
}

/** Resolves a host name to its allowed addresses. */
function guardedLookup(policy: Policy, lookup: Lookup): LookupFunction {
  return (hostname, { all, family }, callback) => {
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
}

/** Connects to the address in the URL, or to an allowed address of its host name. */
function guardedConnector(policy: Policy, connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    // Node.js does not call `lookup` for a host that is an address, so it is checked here.
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
