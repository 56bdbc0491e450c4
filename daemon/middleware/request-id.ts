/**
 * The id of a request, by which it is found in the log and in the audit log: `x-request-id`, as it came or a new one, and in the answer.
 *
 * Taken is what cannot be a key that somebody has put into the wrong header.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Middleware } from 'koa'
import { randomId } from '../../src/base/id.ts'
import { stateOf } from './request-log.ts'

/** UUIDs, ULIDs, trace ids, and what proxies make. */
const pattern = /^(?!iak_)[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/

/** Gives each request its id, in `ctx.state.requestId`. */
export const requestId: Middleware = (ctx, next) => {
  const id = given(ctx.headers) ?? randomId()
  stateOf(ctx).requestId = id
  ctx.res.setHeader('X-Request-Id', id)
  return next()
}

function given({
  'x-request-id': id,
  apikey,
  'x-admin-api-key': adminKey,
  authorization,
}: IncomingHttpHeaders): string | undefined {
  if (typeof id !== 'string' || !pattern.test(id)) return undefined
  return [apikey, adminKey, authorization].some((key) => typeof key === 'string' && key.includes(id))
    ? undefined
    : id
}
