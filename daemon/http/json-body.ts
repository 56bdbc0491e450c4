/** Reads JSON bodies: the text first, so that what must not be parsed is refused before it is. */
import { bodyParser } from '@koa/bodyparser'
import type { Context } from 'koa'
import { hasPrototypeMember, JsonError, parseJson } from '../../src/base/json.ts'

/** Reads a body into `ctx.request`, `rawBody` its text and `body` its value; neither is there when the caller is gone already. */
export type ReadJson = (ctx: Context) => Promise<void>

/**
 * Makes what reads bodies of up to so many bytes, after decompression, of whatever media type.
 *
 * It throws {JsonError}, also for a member named `__proto__`, errors with a `status` when the body is too large, and zlib's errors.
 */
export function createJsonReader(maxBytes: number): ReadJson {
  const readText = bodyParser({
    enableTypes: ['text'],
    textLimit: String(maxBytes),
    parsedMethods: ['POST', 'PUT', 'PATCH', 'DELETE'],
  })
  return async (ctx) => {
    const { headers } = ctx.req
    const type = headers['content-type']
    try {
      // The parser goes by the type; here everything is JSON until it turns out to be none.
      headers['content-type'] = 'text/plain'
      await readText(ctx, () => Promise.resolve())
    } finally {
      if (type === undefined) delete headers['content-type']
      else headers['content-type'] = type
    }
    const { body, rawBody } = ctx.request
    if (body !== undefined && rawBody !== '') ctx.request.body = parse(rawBody)
  }
}

function parse(json: string): unknown {
  const value = parseJson(json)
  if (hasPrototypeMember(value)) throw new JsonError('has a member named __proto__')
  return value
}
