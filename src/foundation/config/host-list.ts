/** Lists of hosts and ports, separated by commas, in the configuration. */
import { isIP } from 'node:net'

/** Names are lower-case ASCII without trailing dots, networks are CIDR, `rest` stands for `*`. */
export type HostList = { names: string[]; suffixes: string[]; networks: string[]; rest: boolean }

/** A range of ports, inclusive. */
export type PortRange = [first: number, last: number]

/**
 * Parses a list such as `hooks.example, .partner.example, 10.20.0.0/16, fd00::1`: a host, a domain with its
 * subdomains (leading dot), a network (CIDR, RFC 4632), an address, and `*`.
 *
 * @throws {SyntaxError} with the entry and the reason
 */
export function readHostList(text: string): HostList {
  const list: HostList = { names: [], suffixes: [], networks: [], rest: false }
  for (const entry of entriesOf(text)) {
    const [address = '', length, ...more] = entry.replace(/^\[(.*)\]/, '$1').split('/')
    if (entry === '*') list.rest = true
    else if (isIP(address) && !address.includes('%') && more.length === 0)
      list.networks.push(toNetwork(entry, address, length))
    else if (entry.startsWith('.')) list.suffixes.push(toName(entry, entry.slice(1)))
    else list.names.push(toName(entry, entry))
  }
  return list
}

/** Parses a list such as `443, 8000-8999`. @throws {SyntaxError} with the entry */
export function readPorts(text: string): PortRange[] {
  return entriesOf(text).map((entry) => {
    const [first, last = first] = (/^(\d{1,5})(?:-(\d{1,5}))?$/.exec(entry)?.slice(1) ?? []).map(
      (port) => port && Number(port),
    ) as number[]
    if (first === undefined || last === undefined || first < 1 || last > 65_535 || first > last) {
      throw new SyntaxError(`${entry} is neither a port nor a range of ports such as 8000-8999`)
    }
    return [first, last]
  })
}

function entriesOf(text: string): string[] {
  const entries = text.split(',').map((entry) => entry.trim())
  return entries.filter((entry) => entry !== '')
}

function toNetwork(entry: string, address: string, length: string | undefined): string {
  const longest = isIP(address) === 4 ? 32 : 128
  const bits = length === undefined ? longest : /^\d{1,3}$/.test(length) ? Number(length) : Infinity
  if (bits > longest)
    throw new SyntaxError(`${entry} is not a network: after the slash comes a number up to ${longest}`)
  return `${address}/${bits}`
}

/** The form of a name in URLs, so that all of its spellings match. */
function toName(entry: string, name: string): string {
  const url =
    /[/:@?#\\%*\s,]/.test(name) || name === '' || !URL.canParse(`http://${name}`)
      ? undefined
      : new URL(`http://${name}`)
  const found = url?.hostname.replace(/\.$/, '')
  if (!found || isIP(found)) {
    throw new SyntaxError(
      `${entry} is not a name, .name (it and all below it), address or network (10.0.0.0/8)`,
    )
  }
  return found
}
