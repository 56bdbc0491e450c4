/**
 * Classifies IP addresses by the IANA special-purpose registries (RFC 6890 and its updates).
 *
 * IPv6 is an allow-list: global unicast without its special blocks, and the two IPv6 forms of public IPv4
 * addresses (mapped, RFC 4291 §2.5.5.2; NAT64, RFC 6052). 6to4 and Teredo, which also carry IPv4 addresses,
 * are obsolete and not allowed.
 */
import { BlockList, isIP } from 'node:net'

const specialIpv4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by carriers
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's host agent: a public number that answers only inside
  '169.254.0.0/16', // link-local, metadata services of clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // IETF protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
]

/** The ranges of private networks, and the metadata services in them, which hand out credentials. */
const privateRanges = {
  all: ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', '198.18.0.0/15', 'fc00::/7'],
  not: ['100.100.100.200/32', 'fd00:ec2::254/128', 'fd20:ce::254/128'],
}

const mapped = '::ffff:'
const nat64 = '64:ff9b::'

const specialIpv6 = [
  '2001::/23', // IETF protocol assignments, Teredo
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3fff::/20', // documentation
  ...specialIpv4.flatMap((range) => [embedded(mapped, range), embedded(nat64, range)]),
]

const ipv4 = { special: listOf(specialIpv4, 'ipv4'), loopback: listOf(['127.0.0.0/8'], 'ipv4') }
const ipv6 = {
  reachable: listOf(['2000::/3', `${mapped}0.0.0.0/96`, `${nat64}0.0.0.0/96`], 'ipv6'),
  special: listOf(specialIpv6, 'ipv6'),
  loopback: listOf(['::1/128', embedded(mapped, '127.0.0.0/8')], 'ipv6'),
}

const inPrivate = { all: inRanges(privateRanges.all), not: inRanges(privateRanges.not) }

/** Whether an IP address, in any spelling, is reachable from the public Internet. Host names are not. */
export function isPublicAddress(ip: string): boolean {
  const family = isIP(ip)
  if (family === 4) return !ipv4.special.check(ip, 'ipv4')
  // An address with a zone (`%eth0`) is valid only on this machine.
  return (
    family === 6 && !ip.includes('%') && ipv6.reachable.check(ip, 'ipv6') && !ipv6.special.check(ip, 'ipv6')
  )
}

/** Whether an IP address is one of this machine: 127.0.0.0/8 (also as IPv6) or ::1. Host names are not. */
export function isLoopbackAddress(ip: string): boolean {
  const family = isIP(ip)
  if (family === 4) return ipv4.loopback.check(ip, 'ipv4')
  return family === 6 && !ip.includes('%') && ipv6.loopback.check(ip, 'ipv6')
}

/** Whether an IP address belongs to a private network, but not to a metadata service. Host names do not. */
export function isPrivateAddress(ip: string): boolean {
  return inPrivate.all(ip) && !inPrivate.not(ip)
}

/**
 * Creates a function that checks whether an IP address is in one of the CIDR ranges. Ranges of IPv4 include
 * the two IPv6 forms of their addresses.
 */
export function inRanges(ranges: readonly string[]): (ip: string) => boolean {
  const [v4, v6] = [
    ranges.filter((range) => !range.includes(':')),
    ranges.filter((range) => range.includes(':')),
  ]
  const lists = {
    4: listOf(v4, 'ipv4'),
    6: listOf([...v6, ...v4.flatMap((range) => [embedded(mapped, range), embedded(nat64, range)])], 'ipv6'),
  }
  return (ip) => {
    const family = isIP(ip)
    return family === 4
      ? lists[4].check(ip, 'ipv4')
      : family === 6 && !ip.includes('%') && lists[6].check(ip, 'ipv6')
  }
}

function listOf(ranges: string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network, length] = range.split('/')
    list.addSubnet(network!, Number(length), family)
  }
  return list
}

/** The IPv6 range of an IPv4 range behind a prefix of 96 bits. */
function embedded(prefix: string, range: string): string {
  const [network, length] = range.split('/')
  return `${prefix}${network}/${96 + Number(length)}`
}
