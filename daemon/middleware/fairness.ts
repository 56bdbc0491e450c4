/**
 * Fairness between tenants: requests are taken in turn from whoever waits, before anything is done for them.
 *
 * A request is of the wallet whose key it shows, once that key has let somebody in; until then, and without a key, it is of the address that it
 * comes from. So nobody has a place in more rows by making keys up, and none in another's row.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Context, Middleware } from 'koa'
import { LRUCache } from 'lru-cache'
import { atMost } from '../../src/base/at-most.ts'
import type { Turn, Turns } from '../../src/base/turns.ts'
import { isSuitePath, toSuiteProblem } from '../routes/_suite.ts'
import type { Caller } from './access.ts'
import { createShown, type Shown } from './shown.ts'

/** How many keys are known by sight. */
const remembered = 20_000

/** Whose request it is, as far as that can be told by looking at it. */
export type Parties = {
  of(headers: IncomingHttpHeaders, address: string): string
  shown: Shown
  /** Finds out who shows these headers, and notes whom they let in, if anybody. */
  meet<Found extends Caller>(headers: IncomingHttpHeaders, identify: () => Promise<Found>): Promise<Found>
}

export function createParties(): Parties {
  const shownBy = createShown()
  const known = new LRUCache<string, string>(atMost(remembered))

  return {
    shown: shownBy,
    of(headers, address) {
      const shown = shownBy(headers)
      return (shown !== undefined && known.get(shown)) || `address ${address}`
    },
    async meet(headers, identify) {
      const shown = shownBy(headers)
      const caller = await identify().catch((error: unknown) => {
        if (shown !== undefined) known.delete(shown)
        throw error
      })
      if (shown !== undefined && caller)
        known.set(shown, caller.kind === 'admin' ? 'administrator' : `wallet ${caller.walletId}`)
      return caller
    },
  }
}

/** Lets a request begin when it is its party's turn. @throws {Problem} 429 or 503 when too much waits. */
export function fairness(turns: Turns, partyOf: (ctx: Context) => string | Promise<string>): Middleware {
  return async (ctx, next) => {
    ctx.state['route'] = `${ctx.method} (not begun)`
    const turn = await turns
      .take(await partyOf(ctx), (giveUp) => ctx.req.socket.once('close', giveUp))
      .catch((error: unknown) => {
        throw isSuitePath(ctx.path) ? toSuiteProblem(error) : error
      })
    // Whoever asked is gone: nothing was done, and there is nobody to tell.
    if (!turn) {
      ctx.respond = false
      return
    }
    ctx.state['turn'] = turn
    ctx.state['route'] = undefined
    try {
      await next()
    } finally {
      turn.leave()
    }
  }
}

/** Lets others begin while a request waits for something that may take long. */
export function leaveTurn(ctx: Context): void {
  ;(ctx.state['turn'] as Turn | undefined)?.leave()
}
