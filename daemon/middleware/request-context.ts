/** The context of a request, which the middleware, the endpoint and the log share, and its line in the log. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Context, Middleware } from 'koa'
import { randomId } from '../../src/foundation/id.ts'
import type { Log } from '../../src/foundation/log.ts'
import type { Metrics } from '../../src/foundation/metrics.ts'
import type { Slot } from '../../src/foundation/scheduler.ts'
import type { Caller } from './access.ts'
import { addressOf } from './address.ts'

/** Each member is filled in as soon as it is known. */
export type RequestContext = {
  /** `X-Request-Id`: the client's, if it is well-formed, or a new one. */
  requestId: string
  /** The address of the client (IPv6: the /64 network). */
  address: string
  /** A log whose lines have the request id. */
  log: Log
  /** The thread ids of the DIDComm threads that the request reads or writes. */
  thids: Set<string>
  /** The fingerprint of the presented `apikey`, if there is one. */
  fingerprint?: string
  slot?: Slot
  /** The key of the endpoint. It replaces the path in the log, because paths may contain secrets. */
  route?: string
  caller?: Caller
  walletId?: string
  /** With traces, on the DIDComm port: when the request began, and whether its message has a span. */
  startedAt?: number
  hasSpan?: boolean
}

export function contextOf({ state }: { state: object }): RequestContext {
  return state as RequestContext
}

/**
 * Makes the context, measures the request, and logs one line per request with endpoint, status, duration and
 * threads: failed requests at `failedLevel`, others at `debug`. Headers and bodies are never logged.
 */
export function requestContext(
  { log, metrics }: { log: Log; metrics: Metrics },
  { isProxied, failedLevel = 'info' }: { isProxied: boolean; failedLevel?: 'info' | 'debug' },
): Middleware {
  return async (ctx, next) => {
    const start = performance.now()
    const requestId = acceptedId(ctx.headers) ?? randomId()
    const context: RequestContext = Object.assign(ctx.state, {
      requestId,
      address: addressOf(ctx.req, isProxied),
      log: log.with({ requestId }),
      thids: new Set<string>(),
    })
    ctx.res.setHeader('X-Request-Id', requestId)
    await next()
    const ms = performance.now() - start
    const { route = `${ctx.method} (no such path)`, address, walletId, thids } = context
    const [method, path] = splitRoute(route)
    const labels = {
      http_request_method: method,
      http_route: path,
      http_response_status_code: String(ctx.status),
    }
    metrics.observe('http_server_request_duration_seconds', labels, ms / 1_000)
    const level = ctx.status >= 400 ? failedLevel : 'debug'
    if (!log.isLevelEnabled(level)) return
    context.log[level](
      {
        route,
        status: ctx.status,
        ms: Math.round(ms),
        walletId,
        ...(thids.size > 0 && { thids: [...thids] }),
        ...(ctx.status === 401 && { address }),
      },
      'request',
    )
  }
}

/** The method and the path of a route. Node.js accepts known methods only, so that there are few. */
function splitRoute(route: string): [method: string, path: string] {
  const space = route.indexOf(' ')
  return [route.slice(0, space), route.slice(space + 1)]
}

/** UUIDs, ULIDs, trace ids and the ids of proxies, but no API key of this agent. */
const idPattern = /^(?!iak_)[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/

/** The client's request id. An id that is part of a credential is not accepted, since it would be logged. */
function acceptedId(headers: IncomingHttpHeaders): string | undefined {
  const { 'x-request-id': id, apikey, 'x-admin-api-key': adminToken, authorization } = headers
  if (typeof id !== 'string' || !idPattern.test(id)) return undefined
  const isCredential = [apikey, adminToken, authorization].some((value) => value?.includes(id))
  return isCredential ? undefined : id
}

/** Calls `listener` if the client disconnects before the response is sent. */
export function onDisconnect({ req: { socket }, res }: Context, listener: () => void): void {
  if (socket.destroyed) return listener()
  // A pipelined response that waits behind another one gets no `close` event of its own.
  socket.once('close', listener)
  res.once('close', () => socket.off('close', listener))
}
