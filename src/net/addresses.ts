/**
 * Which IP addresses belong to the public Internet, by the IANA special-purpose registries (RFC 6890 and its updates).
 *
 * IPv6 is an allow-list: global unicast without its special blocks, and the two ways in which a public IPv4 address
 * is written as IPv6 (mapped, RFC 4291 §2.5.5.2; NAT64, RFC 6052). 6to4 and Teredo, which also carry IPv4
 * addresses, are obsolete and refused whole.
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

/** What a network of one's own is made of; `not` are the servers there that hand out a machine's credentials. */
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

/** Tells whether an IP address, in any spelling that Node accepts, is one that anybody on the Internet could reach. Names are not. */
export function isPublicAddress(ip: string): boolean {
  const family = isIP(ip)
  if (family === 4) return !ipv4.special.check(ip, 'ipv4')
  // A zone (`%eth0`) says that the address means something on this machine only.
  return (
    family === 6 && !ip.includes('%') && ipv6.reachable.check(ip, 'ipv6') && !ipv6.special.check(ip, 'ipv6')
  )
}

/** Tells whether an IP address leads back to this machine: 127.0.0.0/8, ::1, and the former written as IPv6. Names do not. */
export function isLoopbackAddress(ip: string): boolean {
  const family = isIP(ip)
  if (family === 4) return ipv4.loopback.check(ip, 'ipv4')
  return family === 6 && !ip.includes('%') && ipv6.loopback.check(ip, 'ipv6')
}

/**
 * Tells whether an IP address is one of a private network: not loopback, and not the metadata services of clouds, which are link-local or
 * listed here. Names are not.
 */
export function isPrivateAddress(ip: string): boolean {
  return inPrivate.all(ip) && !inPrivate.not(ip)
}

/** Makes a function that tells whether an IP address is in one of some ranges (CIDR); ranges of IPv4 count in IPv6's two spellings of them too. */
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

/** The IPv6 range that an IPv4 range is behind a prefix of 96 bits. */
function embedded(prefix: string, range: string): string {
  const [network, length] = range.split('/')
  return `${prefix}${network}/${96 + Number(length)}`
}
