/** Replies are data for programs: nothing in them is to be rendered, framed, sniffed at or kept by a cache. Pages say for themselves what may be rendered. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import helmet from 'helmet'
import type { Middleware } from 'koa'

/** Sets the headers that say so, before anything else is done; and over https, that it stays with https. */
export function securityHeaders(publicUrl: string): Middleware {
  const headers = headersOf(publicUrl.startsWith('https:'))
  return ({ res }, next) => {
    for (const [name, value] of headers) res.setHeader(name, value)
    return next()
  }
}

/** What helmet says to every request alike, asked once. */
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
