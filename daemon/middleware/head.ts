/**
 * The head of a request, as far as Node.js does not judge it: one `Host` (RFC 9112 §3.2), and not too many headers.
 *
 * Node.js takes the first of several `Host` lines, where a proxy may have judged the last one. Of the size it counts the names and values only, so
 * that without a number of headers a head has no limit.
 */
import type { IncomingMessage } from 'node:http'
import type { Middleware } from 'koa'
import { Problem } from '../../src/base/problem.ts'

/** Headers of one request. */
export const maxHeaders = 200

/** The fault of a request's head; undefined when there is none. The server must keep one header more than the limit. */
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

/** Refuses a request whose head is not as it must be. */
export const head: Middleware = ({ req }, next) => {
  const fault = findHeadFault(req)
  if (fault) throw fault
  return next()
}
