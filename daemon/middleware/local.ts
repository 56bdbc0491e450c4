/**
 * Keeps web pages away from a daemon on a developer's machine.
 *
 * A page in a browser can send requests to loopback addresses, directly (its `Origin` tells) or through a name of its
 * own that resolves to one (DNS rebinding; `Host` tells). Programs send no `Origin` and the host they were told.
 */
import type { Middleware } from 'koa'
import { LRUCache } from 'lru-cache'
import { Problem } from '../../src/base/problem.ts'
import { isLocalHost } from '../../src/net/public-url.ts'

/** How many hosts and origins are known by sight; whoever asks says the same ones again and again. */
const remembered = 100

/** Refuses what does not come from this machine, from one of the listed origins, or by way of `publicUrl`, the address that the daemon is known by. */
export function local(publicUrl: string, origins: readonly string[] = []): Middleware {
  const publicHost = new URL(publicUrl).hostname
  const look = (url: string) => {
    if (!URL.canParse(url)) return false
    const { hostname } = new URL(url)
    return isLocalHost(hostname) || hostname === publicHost
  }
  const known = new LRUCache<string, boolean>({ max: remembered, memoMethod: look })
  const isOurs = (url: string) => known.memo(url)
  return (ctx, next) => {
    const { host, origin } = ctx.headers
    if (origin !== undefined && !isOurs(origin) && !origins.includes(origin))
      throw refused('The header `Origin` names another site.')
    if (host !== undefined && !isOurs(`http://${host}`))
      throw refused('The header `Host` names another host.')
    return next()
  }
}

function refused(reason: string): Problem {
  return new Problem(
    'error:LocalAccessOnly',
    `${reason} This agent answers on this machine only; set REST_SERVICE_URL to its public address if it has one, and AGENT_CORS_ORIGINS for web pages of other sites.`,
  )
}
