/**
 * The address of this machine in its local network, at which phones and other machines reach the agent
 * (AGENT_LAN).
 *
 * Only IPv4 addresses of private networks qualify (RFC 1918, RFC 6598): an address of the public Internet
 * needs TLS and a decision of its own.
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { StartError } from '../start-error.ts'
import { isPrivateAddress } from './addresses.ts'

/** `network` is the address with the length of its prefix, such as `192.168.1.10/24`. */
export type LanAddress = { address: string; network: string; interface: string }

/** The chosen address, and the others that could be chosen. */
export type Lan = LanAddress & { others: LanAddress[] }

/** An address of the documentation range (RFC 5737), behind the default route. */
const elsewhere = '203.0.113.1'

/** Interfaces of containers, virtual machines and VPNs, at which no phone is. */
const virtual =
  /^(?:docker|br-|veth|virbr|vmnet|vboxnet|vEthernet|lxc|lxd|cni|flannel|podman|tun|tap|utun|wg|tailscale|zt)/i

/**
 * Finds the address for `auto`, or checks a named one, whose network may have another prefix:
 * `192.168.1.10/28`. `auto` prefers real interfaces, then the interface of the default route.
 *
 * @throws {StartError} 2 when there is no such address
 */
export async function findLan(wanted: string): Promise<Lan> {
  const found = sortAddresses(listAddresses(), await defaultAddress())
  const [named, prefix] = wanted.split('/')
  const chosen = wanted === 'auto' ? found[0] : found.find(({ address }) => address === named)
  if (chosen) {
    const network = prefix === undefined ? chosen.network : `${chosen.address}/${prefix}`
    return { ...chosen, network, others: found.filter((each) => each !== chosen) }
  }
  const known =
    found.length === 0
      ? 'This machine has no IPv4 address in a private network: connect it to one, or set REST_SERVICE_URL and DIDCOMM_SERVICE_URL to the addresses of a proxy or a tunnel.'
      : `Choose one of ${describeAddresses(found)}.`
  if (wanted === 'auto') throw new StartError(`There is no address for --lan. ${known}`, 2)
  throw new StartError(
    `${named} (--lan, AGENT_LAN) is not an address of this machine in a private network. ${known}`,
    2,
  )
}

/** Addresses with their interfaces: `192.168.1.10 (eth0), 10.8.0.2 (tun0)`. */
export function describeAddresses(found: readonly LanAddress[]): string {
  return found.map((each) => `${each.address} (${each.interface})`).join(', ')
}

function listAddresses(): LanAddress[] {
  return Object.entries(networkInterfaces()).flatMap(([name, entries = []]) =>
    entries
      .filter(({ family, internal, address }) => family === 'IPv4' && !internal && isPrivateAddress(address))
      .map(({ address, cidr }) => ({ address, network: cidr ?? `${address}/32`, interface: name })),
  )
}

/** Real interfaces first, then that of the default route, otherwise in the order of the system. */
export function sortAddresses(found: readonly LanAddress[], preferred: string | undefined): LanAddress[] {
  const rank = (each: LanAddress) =>
    (virtual.test(each.interface) ? 2 : 0) + (each.address === preferred ? 0 : 1)
  return found.toSorted((a, b) => rank(a) - rank(b))
}

/** The address of the default route: that of a UDP socket which is connected to the Internet. Nothing is sent. */
async function defaultAddress(): Promise<string | undefined> {
  const socket = createSocket('udp4')
  try {
    socket.connect(9, elsewhere)
    await once(socket, 'connect')
    return socket.address().address
  } catch {
    return undefined
  } finally {
    socket.close()
  }
}
