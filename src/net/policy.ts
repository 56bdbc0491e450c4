/**
 * Whom this agent calls when a tenant or a peer names somebody: how far it reaches, and what its operator lists beside that.
 *
 * A host or network on the deny list is never called. One on the allow list is, wherever it is; `*` on the deny list denies all others.
 * For those that are on neither list, the reach decides.
 */
import { isIP } from 'node:net'
import type { HostList, PortRange } from '../base/host-list.ts'
import { inRanges, isLoopbackAddress, isPrivateAddress, isPublicAddress } from './addresses.ts'
import { isPortAllowed } from './ports.ts'
import { isPublicName } from './public-url.ts'
import { UnreachableError, type UnreachableCode } from './unreachable-error.ts'

/** Which addresses may be called: public ones, those and this machine's own, those and private networks', or all. */
export type Reach = 'public' | 'loopback' | 'private' | 'any'

export type Limits = {
  allow: Reach
  allowHosts?: HostList | undefined
  denyHosts?: HostList | undefined
  /** All but those of other services when absent. */
  allowPorts?: readonly PortRange[] | undefined
}

/** Both functions give the reason why not, or nothing. Hosts are as a parsed URL has them, IPv6 addresses without brackets. */
export type Policy = {
  /** Judges what can be judged before a name is looked up. */
  judgeHost(host: string, port: number): UnreachableError | undefined
  /** Judges one of the addresses that a host has; an address is its own. */
  judgeAddress(host: string, ip: string): UnreachableError | undefined
}

/** Makes the judge of hosts, ports and addresses. */
export function createPolicy({ allow, allowHosts, denyHosts, allowPorts }: Limits): Policy {
  const [allowed, denied] = [matcherOf(allowHosts), matcherOf(denyHosts)]
  const deniesRest = denyHosts?.rest === true

  function judgeAddress(host: string, ip: string): UnreachableError | undefined {
    if (denied.hasName(host) || denied.hasAddress(ip)) return refusal('host-denied', host)
    if (allowed.hasName(host) || allowed.hasAddress(ip)) return undefined
    if (deniesRest) return refusal('host-denied', host)
    return isWithin(allow, ip) ? undefined : refusal('address-not-allowed', host)
  }

  return {
    judgeAddress,
    judgeHost(host, port) {
      // The operator's own addresses may be anywhere.
      if (allow !== 'any' && !isPortAllowed(port, allowPorts))
        return refusal('port-not-allowed', `${host} at port ${port}`)
      if (isIP(host)) return judgeAddress(host, host)
      if (denied.hasName(host)) return refusal('host-denied', host)
      if (allowed.hasName(host) || allowed.hasNetworks) return undefined
      if (deniesRest) return refusal('host-denied', host)
      // Whether a private network knows a name is nobody's business, so it is not asked.
      return allow === 'public' && !isPublicName(host) ? refusal('address-not-allowed', host) : undefined
    },
  }
}

function isWithin(reach: Reach, ip: string): boolean {
  if (reach === 'any' || isPublicAddress(ip)) return true
  return (reach !== 'public' && isLoopbackAddress(ip)) || (reach === 'private' && isPrivateAddress(ip))
}

function matcherOf(
  { names, suffixes, networks }: HostList = { names: [], suffixes: [], networks: [], rest: false },
) {
  const exact = new Set([...names, ...suffixes])
  return {
    hasNetworks: networks.length > 0,
    hasAddress: inRanges(networks),
    hasName(host: string) {
      const name = host.toLowerCase().replace(/\.$/, '')
      return exact.has(name) || suffixes.some((suffix) => name.endsWith(`.${suffix}`))
    },
  }
}

const reasons = {
  'address-not-allowed':
    'is an address of a private network or of this machine, which this agent does not call unless its operator lists it in AGENT_ALLOW_HOSTS',
  'host-denied': 'is not to be called by this agent, as its operator has it (AGENT_DENY_HOSTS)',
  'port-not-allowed':
    'is not to be called by this agent: the port is another service’s, or not one of those in AGENT_ALLOW_PORTS',
} satisfies Partial<Record<UnreachableCode, string>>

function refusal(code: keyof typeof reasons, subject: string): UnreachableError {
  return new UnreachableError(code, `${subject} ${reasons[code]}`)
}
