/**
 * One line for every request: at `info` when it failed, else at `debug`, since clients poll.
 *
 * The endpoint's key stands for the path, because paths may hold links that are as good as a key; headers and bodies
 * are not logged.
 */
import type { Middleware } from 'koa'
import type { Log } from '../../src/base/log.ts'

/** What is found out about a request on its way, for its line: in `ctx.state`. */
export type RequestState = {
  requestId: string
  /** The log, whose lines name the request. */
  log: Log
  route?: string
  address?: string
  walletId?: string
  /** The DIDComm threads that it has to do with, or writes to. */
  thids: Set<string>
}

/** What a request has found out about itself so far; what is put in is there for those that come after. */
export function stateOf(ctx: { state: object }): RequestState {
  return ctx.state as RequestState
}

/** Logs endpoint, status and duration of each request, and the threads it wrote to; `failed` is the level of those that fail. */
export function requestLog(log: Log, { failed = 'info' }: { failed?: 'info' | 'debug' } = {}): Middleware {
  return async (ctx, next) => {
    const start = performance.now()
    const state = stateOf(ctx)
    state.thids = new Set()
    state.log = log.with({ requestId: state.requestId })
    await next()
    const level = ctx.status >= 400 ? failed : 'debug'
    if (!log.isLevelEnabled(level)) return
    const { address, walletId, thids } = state
    state.log[level](
      {
        route: state.route ?? `${ctx.method} (no such path)`,
        status: ctx.status,
        ms: Math.round(performance.now() - start),
        walletId,
        ...(thids.size > 0 && { thids: [...thids] }),
        // Whose key was refused is not known; where it came from is.
        ...(ctx.status === 401 && { address }),
      },
      'request',
    )
  }
}
