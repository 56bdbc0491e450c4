/** The administrator's stream of the events of all wallets: from all processes, in one response. */
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import type { Middleware } from 'koa'
import type { Ownership } from '../../src/cluster/ownership.ts'
import { isForwarded } from '../middleware/address.ts'
import { contextOf } from '../middleware/request-context.ts'
import type { Forwarding } from './forward.ts'

/** Server-sent events end with an empty line (WHATWG HTML §9.2). */
const frameEnd = '\n\n'

/**
 * Adds the events of the wallets of other processes. The stream ends when one of the processes ends, or
 * wallets get other owners: the client connects again.
 */
export function eventsOfAll(ownership: Ownership, { askOthers }: Forwarding): Middleware {
  return async (ctx, next) => {
    await next()
    const isOfAll = contextOf(ctx).caller?.kind === 'admin' && ctx.query['walletId'] === undefined
    const { body: own } = ctx
    if (!isOfAll || ctx.path !== '/events/stream' || isForwarded(ctx.req) || !(own instanceof Readable))
      return
    const ended = new AbortController()
    const remove = ownership.onChange(() => ended.abort())
    // Nothing is read before: the events of this process that occur meanwhile wait in its stream.
    const others = await askOthers(ctx, ended.signal)
    const merged = new PassThrough()
    const end = () => {
      remove()
      ended.abort()
      for (const source of [own, ...others]) source.destroy()
      merged.end()
    }
    ended.signal.addEventListener('abort', end, { once: true })
    merged.once('close', end)
    for (const source of [own, ...others])
      void pass(source, merged, ended.signal).finally(() => ended.abort())
    if (ended.signal.aborted) end()
    const type = ctx.response.get('Content-Type')
    ctx.body = merged
    ctx.set('Content-Type', type)
  }
}

/** Passes whole frames on. A slow client holds all sources back. */
async function pass(source: Readable, merged: PassThrough, signal: AbortSignal): Promise<void> {
  let rest = ''
  try {
    for await (const chunk of source.setEncoding('utf8')) {
      rest += chunk as string
      const end = rest.lastIndexOf(frameEnd) + frameEnd.length
      if (end < frameEnd.length) continue
      const isTaken = merged.write(rest.slice(0, end))
      rest = rest.slice(end)
      if (!isTaken) await once(merged, 'drain', { signal })
    }
  } catch {
    // The stream of another process, or the client's, has been cut off.
  }
}
