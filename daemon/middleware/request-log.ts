/**
 * One line for every request: at `info` when it failed, else at `debug`, since clients poll.
 *
 * The endpoint's key stands for the path, because paths may hold links that are as good as a key; headers and bodies
 * are not logged.
 */
import type { Middleware } from 'koa'
import type { Log } from '../../src/base/log.ts'

/** Logs endpoint, status and duration of each request. */
export function requestLog(log: Log): Middleware {
  return async (ctx, next) => {
    const start = performance.now()
    await next()
    const level = ctx.status >= 400 ? 'info' : 'debug'
    if (!log.isLevelEnabled(level)) return
    const route = (ctx.state['route'] as string | undefined) ?? `${ctx.method} (no such path)`
    // Whose key was refused is not known; where it came from is.
    const from = ctx.status === 401 ? { address: ctx.state['address'] as unknown } : {}
    log[level]({ route, status: ctx.status, ms: Math.round(performance.now() - start), ...from }, 'request')
  }
}
