/**
 * The addresses that this agent calls when a tenant or a peer names them, by its configuration.
 *
 * Loopback addresses are called only when the whole deployment is on this machine. If other machines can
 * reach the agent, through a proxy or a public URL, the addresses that they name must not lead to local
 * services.
 */
import type { Config } from '../config/config.ts'
import type { Limits, Reach } from './policy.ts'
import { isLocalHost } from './public-url.ts'

const exceptions = ['AGENT_ALLOW_HOSTS', 'AGENT_DENY_HOSTS', 'AGENT_ALLOW_PORTS'] as const
const proxies = ['AGENT_TRUST_PROXY', 'MEDIATOR_TRUST_PROXY'] as const
const publicUrls = [
  'REST_SERVICE_URL',
  'DIDCOMM_SERVICE_URL',
  'POLLUX_STATUS_LIST_REGISTRY_PUBLIC_URL',
] as const

type Settings = Pick<
  Config,
  | 'AGENT_HOST'
  | 'AGENT_LAN'
  | 'AGENT_ALLOW_PRIVATE_NETWORK'
  | (typeof exceptions)[number]
  | (typeof proxies)[number]
  | (typeof publicUrls)[number]
>

/** The limits of the configuration for addresses that tenants and peers name. */
export function callLimitsOf(config: Settings): Limits {
  return {
    allow: reachOf(config).allow,
    network: networkOf(config),
    allowHosts: config.AGENT_ALLOW_HOSTS,
    denyHosts: config.AGENT_DENY_HOSTS,
    allowPorts: config.AGENT_ALLOW_PORTS,
  }
}

/** Describes these limits for the operator, with the reason. */
export function describeReach(config: Settings): string {
  const { allow, reason } = reachOf(config)
  const more = exceptions.filter((name) => config[name] !== undefined)
  const network = allow === 'public' ? networkOf(config) : undefined
  const reached = network === undefined ? called[allow] : `public ones and the network ${network}`
  const unless = more.length === 0 ? '' : `, but for the exceptions in ${more.join(', ')}`
  return `Of the addresses that tenants and peers name, the agent calls ${reached}, because ${reason}${unless}.`
}

const called = {
  public: 'public ones only',
  loopback: 'public ones and this machine’s',
  private: 'public and private ones and this machine’s',
} as const satisfies Partial<Record<Reach, string>>

/**
 * The network of the LAN address, from which others can reach this agent, and its services at private
 * addresses by themselves.
 */
function networkOf({ AGENT_LAN: lan }: Settings): string | undefined {
  return lan.includes('/') ? lan : undefined
}

function reachOf(config: Settings): { allow: keyof typeof called; reason: string } {
  if (config.AGENT_ALLOW_PRIVATE_NETWORK)
    return { allow: 'private', reason: 'AGENT_ALLOW_PRIVATE_NETWORK is true' }
  const opening = findOpening(config)
  return opening === undefined
    ? { allow: 'loopback', reason: 'the whole deployment is on this machine' }
    : { allow: 'public', reason: opening }
}

/** The first setting by which other machines can reach this agent, if any. */
export function findOpening(config: Settings): string | undefined {
  if (config.AGENT_LAN !== 'off') return `AGENT_LAN is ${config.AGENT_LAN}`
  if (!isLocalHost(config.AGENT_HOST)) return `AGENT_HOST is ${config.AGENT_HOST}`
  const proxy = proxies.find((name) => config[name])
  if (proxy !== undefined) return `${proxy} is true`
  const url = publicUrls.find(
    (name) => config[name] !== undefined && !isLocalHost(new URL(config[name]).hostname),
  )
  return url && `${url} is ${config[url]}`
}
