/** Fairness between clients: a request waits for a slot of its client before any work is done for it. */
import type { Context, Middleware } from 'koa'
import type { Agent } from '../../src/agent/agent.ts'
import type { Scheduler } from '../../src/foundation/scheduler.ts'
import { peekBearerWallet } from './bearer.ts'
import { contextOf, onDisconnect } from './request-context.ts'

/** Runs a request while it has a slot. @throws {Problem} 429 or 503 when too many requests wait. */
export function fairness(
  scheduler: Scheduler,
  clientOf: (ctx: Context) => string | Promise<string>,
): Middleware {
  return async (ctx, next) => {
    const context = contextOf(ctx)
    context.route = `${ctx.method} (not begun)`
    const slot = await scheduler.acquire(await clientOf(ctx), (cancel) => onDisconnect(ctx, cancel))
    if (!slot) {
      // The client disconnected.
      ctx.respond = false
      return
    }
    context.slot = slot
    delete context.route
    try {
      await next()
    } finally {
      slot.release()
    }
  }
}

/**
 * The client of an API request: the wallet of an API key or a bearer token that has been valid before, the
 * administrator, or the address. A made-up key thus gets no slots of its own, and none of another client's.
 */
export function apiClientOf(agent: Agent): (ctx: Context) => string {
  const { tenants, isAdminToken } = agent
  return (ctx) => {
    const context = contextOf(ctx)
    const { apikey, 'x-admin-api-key': adminToken } = ctx.headers
    const ofBearer = peekBearerWallet(agent, ctx.headers)
    if (ofBearer !== undefined) return `wallet ${ofBearer}`
    if (typeof apikey === 'string' && apikey !== '') {
      context.fingerprint = tenants.keys.fingerprint(apikey)
      const known = tenants.keys.peek(context.fingerprint)
      if (known) return `wallet ${known.walletId}`
    }
    return isAdminToken(adminToken) ? 'administrator' : `address ${context.address}`
  }
}
