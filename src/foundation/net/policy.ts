/**
 * The policy for hosts that tenants and peers name.
 *
 * A host or network on the deny list is never called. One on the allow list is called at any address. `*` on
 * the deny list denies all hosts that the allow list does not have. The reach decides about all other hosts.
 */
import { isIP } from 'node:net'
import type { HostList, PortRange } from '../config/host-list.ts'
import { inRanges, isLoopbackAddress, isPrivateAddress, isPublicAddress } from './addresses.ts'
import { isPublicName } from './public-url.ts'
import { UnreachableError, type UnreachableCode } from './unreachable-error.ts'

/** The addresses that may be called: public ones, also this machine's, also private networks', or all. */
export type Reach = 'public' | 'loopback' | 'private' | 'any'

export type Limits = {
  allow: Reach
  /** A private network (CIDR) whose addresses may be called, but not names that only private networks know. */
  network?: string | undefined
  allowHosts?: HostList | undefined
  denyHosts?: HostList | undefined
  /** Default: all ports except those of other services. */
  allowPorts?: readonly PortRange[] | undefined
}

/** The reason of a refusal, or undefined. Hosts are as in a parsed URL, IPv6 addresses without brackets. */
export type Policy = {
  /** Checks host and port before name resolution. */
  judgeHost(host: string, port: number): UnreachableError | undefined
  /** Checks one resolved address of a host. */
  judgeAddress(host: string, ip: string): UnreachableError | undefined
}

/**
 * Ports of mail, remote shells, name servers and other services, which could misinterpret an HTTP request:
 * the blocked ports of browsers (WHATWG Fetch §2.9, "Port blocking").
 */
const otherServices = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

export function createPolicy({ allow, network, allowHosts, denyHosts, allowPorts }: Limits): Policy {
  const isInNetwork = inRanges(network === undefined ? [] : [network])
  const [allowed, denied] = [matcherOf(allowHosts), matcherOf(denyHosts)]
  const deniesRest = denyHosts?.rest === true

  function judgeAddress(host: string, ip: string): UnreachableError | undefined {
    if (denied.hasName(host) || denied.hasAddress(ip)) return refusal('host-denied', host)
    if (allowed.hasName(host) || allowed.hasAddress(ip)) return undefined
    if (deniesRest) return refusal('host-denied', host)
    const isAllowed = isWithin(allow, ip) || (isInNetwork(ip) && isPrivateAddress(ip))
    return isAllowed ? undefined : refusal('address-not-allowed', host)
  }

  return {
    judgeAddress,
    judgeHost(host, port) {
      // The operator allows these hosts at any address.
      if (allow !== 'any' && !isPortAllowed(port, allowPorts))
        return refusal('port-not-allowed', `${host} at port ${port}`)
      if (isIP(host)) return judgeAddress(host, host)
      if (denied.hasName(host)) return refusal('host-denied', host)
      if (allowed.hasName(host) || allowed.hasNetworks) return undefined
      if (deniesRest) return refusal('host-denied', host)
      // Do not resolve the name: whether a private network knows it must not be observable.
      return allow === 'public' && !isPublicName(host) ? refusal('address-not-allowed', host) : undefined
    },
  }
}

/** Checks the list of the operator or, without a list, the blocked ports. */
function isPortAllowed(port: number, listed?: readonly PortRange[]): boolean {
  if (listed) return listed.some(([first, last]) => first <= port && port <= last)
  return !otherServices.has(port)
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
  'host-denied': 'is not called: the operator of this agent denies it (AGENT_DENY_HOSTS)',
  'port-not-allowed': 'is not called: the port belongs to another service, or is not in AGENT_ALLOW_PORTS',
} satisfies Partial<Record<UnreachableCode, string>>

function refusal(code: keyof typeof reasons, subject: string): UnreachableError {
  return new UnreachableError(code, `${subject} ${reasons[code]}`)
}
