/**
 * Protects a daemon on a developer's machine from web pages, also one that answers in the local network
 * (AGENT_LAN).
 *
 * A page in a browser can send requests to loopback addresses: directly, which `Origin` shows, or through a
 * name of its own that resolves to one (DNS rebinding), which `Host` shows. Programs send no `Origin`, and
 * the host they were given.
 */
import type { Context, Middleware } from 'koa'
import { LRUCache } from 'lru-cache'
import type { Agent } from '../../src/agent/agent.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { isLocalHost } from '../../src/foundation/net/public-url.ts'
import { contextOf } from './request-context.ts'

/** Hosts and origins whose check is remembered. */
const cacheSize = 100

/**
 * Accepts requests from this machine, from `AGENT_CORS_ORIGINS`, and to the public host, which is the address
 * of AGENT_LAN. Refusals are audited.
 */
export function local({ audit, config, env }: Agent): Middleware {
  const origins = config.AGENT_CORS_ORIGINS ?? []
  const publicHost = new URL(env.urls.rest).hostname
  const check = (url: string) => {
    if (!URL.canParse(url)) return false
    const { hostname } = new URL(url)
    return isLocalHost(hostname) || hostname === publicHost
  }
  const checked = new LRUCache<string, boolean>({ max: cacheSize, memoMethod: check })
  const reasonToRefuse = (host: string | undefined, origin: string | undefined) => {
    if (origin !== undefined && !checked.memo(origin) && !origins.includes(origin))
      return 'The header `Origin` names another site.'
    return host !== undefined && !checked.memo(`http://${host}`)
      ? 'The header `Host` names another host.'
      : undefined
  }
  const remedy =
    config.AGENT_LAN === 'off'
      ? 'This agent answers on this machine only; set REST_SERVICE_URL to its public address if it has one, and AGENT_CORS_ORIGINS for web pages of other sites.'
      : `This agent answers at ${publicHost} and on this machine only; use that address, and set AGENT_CORS_ORIGINS for web pages of other sites.`
  return (ctx, next) => {
    const reason = reasonToRefuse(ctx.headers.host, ctx.headers.origin)
    return reason === undefined ? next() : refuse(audit, ctx, `${reason} ${remedy}`)
  }
}

async function refuse(audit: Agent['audit'], ctx: Context, detail: string): Promise<never> {
  const problem = new Problem('error:LocalAccessOnly', detail)
  const { address, requestId } = contextOf(ctx)
  await audit.refused(
    { actor: 'anonymous', address, requestId, action: 'request from another site' },
    problem,
  )
  throw problem
}
