/**
 * Base paths: clients are given URLs under which deployments of the real agent, and of the enterprise suite, hide behind a proxy (api.md 1.1, 8.1).
 */
import type { Middleware } from 'koa'

const basePaths = ['/cloud-agent', '/prism-agent']

/** The enterprise suite's own base path leads nowhere else. */
const enterprise = /^\/enterprise(?=\/+(?:onboard|did-requests|did-authentication|\.well-known)\/)/

/** DID requests are found without `/onboard` too, as their `self` has it. */
const didRequests = /^\/+did-requests(?=\/)/

/**
 * Takes a known base path off the front, so that every endpoint is found with and without. Slashes in front of the base path and of the
 * endpoint count as one: clients join a base URL that ends with a slash and a path that begins with one.
 */
export const basePath: Middleware = (ctx, next) => {
  const given = withOneSlash(ctx.path)
  const prefix = basePaths.find((known) => `${given}/`.startsWith(`${known}/`)) ?? ''
  const endpoint = withOneSlash(given.slice(prefix.length)) || '/'
  // With a slash at its end, a path that is a whole name looks like one that goes on.
  const path = withOneSlash(
    `${endpoint}/`.replace(enterprise, '').replace(didRequests, '/onboard/did-requests').slice(0, -1),
  )
  if (path !== ctx.path) ctx.path = path
  return next()
}

/** A path whose first character is its only slash at the front. */
export function withOneSlash(path: string): string {
  return path.replace(/^\/+/, '/')
}
