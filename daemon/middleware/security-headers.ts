/**
 * Security headers: responses are data for programs, which browsers must not render, frame, sniff or cache.
 * Pages replace them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import helmet from 'helmet'
import type { Middleware } from 'koa'

/** Sets the headers before any other work; with `isStrict`, also `Strict-Transport-Security`. */
export function securityHeaders(isStrict: boolean): Middleware {
  const headers = headersOf(isStrict)
  return ({ res }, next) => {
    for (const [name, value] of headers) res.setHeader(name, value)
    return next()
  }
}

/** The headers of helmet, which are the same for all requests. */
function headersOf(isSecure: boolean): ReadonlyMap<string, string> {
  const secure = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    strictTransportSecurity: isSecure ? {} : false,
  })
  const headers = new Map([['Cache-Control', 'no-store']])
  const response = {
    setHeader: (name: string, value: string) => headers.set(name, value),
    removeHeader: (name: string) => headers.delete(name),
  }
  secure({} as IncomingMessage, response as unknown as ServerResponse, () => undefined)
  return headers
}
