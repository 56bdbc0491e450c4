/** Replies are data for programs: nothing in them is to be rendered, framed, sniffed at or kept by a cache. Pages say for themselves what may be rendered. */
import type { Middleware } from 'koa'
import helmet from 'koa-helmet'

/** Sets the headers that say so, before anything else is done; and over https, that it stays with https. */
export function securityHeaders(publicUrl: string): Middleware {
  const secure = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    strictTransportSecurity: publicUrl.startsWith('https:') ? {} : false,
  })
  return (ctx, next) => {
    ctx.set('Cache-Control', 'no-store')
    return secure(ctx, next)
  }
}
