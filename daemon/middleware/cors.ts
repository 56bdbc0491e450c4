/**
 * Leave for web pages of other origins to call a server: those that the operator lists, and no others (Fetch §3.2, CORS protocol).
 *
 * Keys travel in headers that a page has to know; nothing goes by cookies, so credentials of the browser's are never let in.
 */
import type { Middleware } from 'koa'

const methods = 'GET, POST, PUT, PATCH, DELETE'
const requestHeaders = 'content-type, apikey, x-admin-api-key, x-request-id, last-event-id'
const responseHeaders = 'retry-after, x-request-id'

/** How long a browser remembers what it was told. */
const maxAgeSeconds = 600

/** Answers browsers that ask for leave, and marks what listed origins may read. Without a list there is no word of CORS. */
export function cors(origins: readonly string[] = []): Middleware {
  const listed = new Set(origins)
  return (ctx, next) => {
    if (listed.size === 0) return next()
    ctx.vary('Origin')
    const { origin } = ctx.headers
    if (origin === undefined || !listed.has(origin)) return next()
    ctx.set({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': responseHeaders })
    // What a page of another origin may not load without leave of this kind, it may with leave of that kind.
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
    if (ctx.method !== 'OPTIONS' || ctx.get('Access-Control-Request-Method') === '') return next()
    ctx.set({ 'Access-Control-Allow-Methods': methods, 'Access-Control-Allow-Headers': requestHeaders })
    ctx.set('Access-Control-Max-Age', String(maxAgeSeconds))
    ctx.status = 204
    return undefined
  }
}
