/** Classifies the hosts of URLs as public, private or local, without name resolution. */
import { isIP } from 'node:net'
import { isLoopbackAddress, isPublicAddress } from './addresses.ts'

/** Private domains: RFC 6761, RFC 6762, RFC 8375, RFC 9476, ICANN’s `internal`, and customary ones. */
const privateNames =
  /\.(?:localhost|local|internal|home\.arpa|alt|test|invalid|onion|lan|home|corp|intranet|private|localdomain)$/

/** Whether the host of a URL is a public address, or a name outside of private domains. */
export function isPublicUrl(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  return isIP(host) ? isPublicAddress(host) : isPublicName(host)
}

/** Whether a host name, as in a parsed URL, has a domain that is not private. */
export function isPublicName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return name.includes('.') && !privateNames.test(name)
}

/** Whether a host name or address (IPv6 with or without brackets) is always this machine. */
export function isLocalHost(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name)
}
