/** Which URLs lead to a place on the public Internet, and which to this machine, as far as they show it themselves. */
import { isIP } from 'node:net'
import { isLoopbackAddress, isPublicAddress } from './addresses.ts'

/** Names that are never anybody's on the Internet: RFC 6761, RFC 6762, RFC 8375, RFC 9476 and ICANN's `internal`, and the customs of private networks. */
const privateNames =
  /\.(?:localhost|local|internal|home\.arpa|alt|test|invalid|onion|lan|home|corp|intranet|private|localdomain)$/

/** Tells whether others can reach the host of a URL: it is a public address, or a name that is not a private network's. Nothing is looked up. */
export function isPublicUrl(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  return isIP(host) ? isPublicAddress(host) : isPublicName(host)
}

/** Tells whether a host name, as a parsed URL has it, can be anybody's on the Internet: it has a domain, and not a private network's. */
export function isPublicName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return name.includes('.') && !privateNames.test(name)
}

/** Tells whether a host name or address, IPv6 with or without brackets, can only be this machine. */
export function isLocalHost(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name)
}
