/**
 * Base paths: deployments of the Cloud Agent and of the enterprise suite have URLs with a prefix, which
 * clients keep.
 */
import type { Middleware } from 'koa'

const basePaths = ['/cloud-agent', '/prism-agent']

/** The base path of the enterprise suite, before its endpoints only. */
const enterprise = /^\/enterprise(?=\/+(?:onboard|did-requests|did-authentication|\.well-known)\/)/

/** DID requests are also at the path without `/onboard`, which their `self` has. */
const didRequests = /^\/+did-requests(?=\/)/

const insertedPath = /^(\/\.well-known\/(?:openid-credential-issuer|oauth-authorization-server))(\/.+)$/

export const basePath: Middleware = (ctx, next) => {
  const path = withoutBasePath(ctx.path)
  if (path !== ctx.path) ctx.path = path
  return next()
}

/**
 * The path of the endpoint. Several slashes before the base path and before the endpoint count as one,
 * because clients join a base URL that ends with a slash and a path that begins with one.
 */
export function withoutBasePath(given: string): string {
  // Metadata of an issuer whose identifier has a base path (RFC 8414 §3.1, VCI §12.2.2).
  const [, wellKnown, inserted] = insertedPath.exec(given) ?? []
  if (wellKnown !== undefined && inserted !== undefined) return wellKnown + withoutBasePath(inserted)
  const requested = withOneSlash(given)
  const prefix = basePaths.find((known) => `${requested}/`.startsWith(`${known}/`)) ?? ''
  const endpoint = withOneSlash(requested.slice(prefix.length)) || '/'
  // The expressions expect a slash after the last segment.
  return withOneSlash(
    `${endpoint}/`.replace(enterprise, '').replace(didRequests, '/onboard/did-requests').slice(0, -1),
  )
}

export function withOneSlash(path: string): string {
  return path.replace(/^\/+/, '/')
}
