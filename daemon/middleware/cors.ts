/**
 * CORS (Fetch §3.2): web pages of the origins that the operator lists may call the server.
 *
 * Keys are in headers that the page sets. Cookies are not used, so that browsers never add credentials.
 */
import type { Middleware } from 'koa'

const methods = 'GET, POST, PUT, PATCH, DELETE'
const requestHeaders =
  'content-type, apikey, x-admin-api-key, authorization, x-wallet-id, x-request-id, traceparent, last-event-id, idempotency-key'
const responseHeaders = 'retry-after, www-authenticate, x-request-id, last-event-id'

/** The time for which a browser caches a preflight response. */
const maxAgeSeconds = 600

/** Answers preflight requests, and lets listed origins read responses. Without a list it does nothing. */
export function cors(origins: readonly string[] = []): Middleware {
  const listed = new Set(origins)
  return (ctx, next) => {
    if (listed.size === 0) return next()
    ctx.vary('Origin')
    const { origin } = ctx.headers
    if (origin === undefined || !listed.has(origin)) return next()
    ctx.set({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': responseHeaders })
    // Helmet's default, `same-origin`, would overrule CORS in some browsers.
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
    if (ctx.method !== 'OPTIONS' || ctx.get('Access-Control-Request-Method') === '') return next()
    ctx.set({ 'Access-Control-Allow-Methods': methods, 'Access-Control-Allow-Headers': requestHeaders })
    ctx.set('Access-Control-Max-Age', String(maxAgeSeconds))
    ctx.status = 204
    return undefined
  }
}
