/** Where a request comes from, for limits. */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/**
 * The address that sent a request: an IPv4 address, or the first 64 bits of an IPv6 address, since a sender has all of the
 * addresses that begin with them.
 *
 * `isProxied` says that a reverse proxy stands before the server: then it is the last entry of X-Forwarded-For, which the proxy
 * wrote; all that comes before it is what the sender says.
 */
export function addressOf(request: IncomingMessage, isProxied: boolean): string {
  const said = isProxied
    ? (
        String(request.headers['x-forwarded-for'] ?? '')
          .split(',')
          .at(-1) ?? ''
      ).trim()
    : ''
  return networkOf(isIP(said) ? said : (request.socket.remoteAddress ?? ''))
}

/** The same of an IP address as it was written; an IPv4 address that is written as IPv6 is that IPv4 address. */
export function networkOf(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1]
  if (mapped !== undefined) return mapped
  if (isIP(ip) !== 6) return ip
  // A URL has one spelling for each IPv6 address, in which one run of zeros may be left out.
  const [head = '', tail] = new URL(`http://[${ip.replace(/%.*$/, '')}]`).hostname.slice(1, -1).split('::')
  const [left, right] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':'))) as [
    string[],
    string[],
  ]
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  return [...left, ...zeros, ...right].slice(0, 4).join(':')
}
