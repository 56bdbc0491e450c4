/**
 * Checks of the head that Node.js does not make: one `Host` (RFC 9112 §3.2), and a limited number of headers.
 *
 * Node.js uses the first of several `Host` headers, while a proxy may have checked the last one. Its size
 * limit counts names and values only, so that the number of headers needs a limit too.
 */
import type { IncomingMessage } from 'node:http'
import type { Middleware } from 'koa'
import { Problem } from '../../src/foundation/problem.ts'

/** The maximum number of headers of a request. */
export const maxHeaders = 200

/** The fault of a head, if it has one. The server must keep one header more than the limit. */
export function findHeadFault({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): Problem | undefined {
  if (rawHeaders.length > 2 * maxHeaders) {
    return new Problem(
      'error:RequestHeaderFieldsTooLarge',
      `The request has more than ${maxHeaders} headers. Send fewer.`,
    )
  }
  const hosts = rawHeaders.filter(
    (name, index) => index % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host',
  )
  return hosts.length > 1
    ? new Problem('BadRequest', 'The request has more than one header `Host`. Send one.')
    : undefined
}

/** Refuses requests with a fault in their head. */
export const head: Middleware = ({ req }, next) => {
  const fault = findHeadFault(req)
  if (fault) throw fault
  return next()
}
