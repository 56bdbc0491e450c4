/** Addresses of clients, for limits and logs. */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/**
 * The clients of requests that another node of this agent has forwarded. Only the listener for nodes notes
 * them, so that no client can claim to be one.
 */
const forwarded = new WeakMap<IncomingMessage, string>()

export function noteForwarded(request: IncomingMessage, address: string): void {
  forwarded.set(request, address)
}

export function isForwarded(request: IncomingMessage): boolean {
  return forwarded.has(request)
}

/**
 * The address of a client: an IPv4 address, or the /64 network of an IPv6 address, because a client usually
 * has all addresses of its network.
 *
 * Of a forwarded request, it is what the first node has found. With `isProxied`, it is the last entry of
 * `X-Forwarded-For`, which the proxy has added. Clients can forge the others.
 */
export function addressOf(request: IncomingMessage, isProxied: boolean): string {
  const known = forwarded.get(request)
  if (known !== undefined) return known
  const added = isProxied
    ? (
        String(request.headers['x-forwarded-for'] ?? '')
          .split(',')
          .at(-1) ?? ''
      ).trim()
    : ''
  return networkOf(isIP(added) ? added : (request.socket.remoteAddress ?? ''))
}

/** The same for an IP address as text. An IPv4-mapped IPv6 address counts as its IPv4 address. */
export function networkOf(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1]
  if (mapped !== undefined) return mapped
  if (isIP(ip) !== 6) return ip
  // URLs normalize IPv6 addresses: `::` replaces at most one run of zeros.
  const [head = '', tail] = new URL(`http://[${ip.replace(/%.*$/, '')}]`).hostname.slice(1, -1).split('::')
  const [left, right] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':'))) as [
    string[],
    string[],
  ]
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  return [...left, ...zeros, ...right].slice(0, 4).join(':')
}
