/**
 * Spans of requests, by the semantic conventions for HTTP servers. The route stands for the path, which may
 * hold secrets. Neither the address of the client nor its headers are attributes.
 */
import type { Context, Middleware } from 'koa'
import { activeSpan, inSpan, type Attributes, type SpanStart } from '../../src/foundation/spans.ts'
import { contextOf } from './request-context.ts'

/** One span for each request of the API. It continues the trace of the client's `traceparent`. */
export const apiSpans: Middleware = (ctx, next) => {
  // Probes of health and metrics come every few seconds.
  if (ctx.path.includes('/_system/')) return next()
  const { traceparent } = ctx.headers
  const parent = typeof traceparent === 'string' ? traceparent : null
  return inSpan(
    () => ({ ...serverSpan(ctx), parent }),
    async () => {
      await next()
      describe(ctx)
    },
  )
}

/**
 * Notes when a request of the DIDComm port began: `receiveMessage` makes the span when it has decrypted the
 * message, which may name its cause. Other requests, such as refused ones, get the span of a request. A
 * `traceparent` header is ignored, because anybody can send one.
 */
export const messageSpans: Middleware = async (ctx, next) => {
  const context = contextOf(ctx)
  const startedAt = Date.now()
  context.startedAt = startedAt
  await next()
  if (context.hasSpan) return
  await inSpan(
    () => ({ ...serverSpan(ctx), parent: null, startedAt }),
    () => Promise.resolve(describe(ctx)),
  )
}

/** Methods by the conventions. Others are `_OTHER`, since a client may send any. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']

function serverSpan({ method, protocol }: Context): SpanStart {
  const known = methods.includes(method) ? method : '_OTHER'
  const attributes: Attributes = { 'http.request.method': known, 'url.scheme': protocol }
  return { kind: 'server', name: known === '_OTHER' ? 'HTTP' : known, attributes }
}

/** Adds what is known when the response is: the route and the status. */
function describe(ctx: Context): void {
  const span = activeSpan()
  const [, route] = contextOf(ctx).route?.split(' ', 2) ?? []
  if (route?.startsWith('/')) {
    span?.name(`${ctx.method} ${route}`)
    span?.set({ 'http.route': route })
  }
  span?.set({ 'http.response.status_code': ctx.status })
  if (ctx.status >= 500) span?.fail(String(ctx.status))
}
