/** Reads JSON bodies: the text first, so that what must not be parsed is refused before it is. */
import { bodyParser } from '@koa/bodyparser'
import type { Context } from 'koa'
import { findExcess } from '../../src/base/json-limits.ts'
import { hasPrototypeMember } from '../../src/protocols/formats.ts'

/** Reads a body into `ctx.request`, `rawBody` its text and `body` its value; neither is there when the caller is gone already. */
export type ReadJson = (ctx: Context) => Promise<void>

/**
 * Makes what reads bodies of up to so many bytes, after decompression, of whatever media type.
 *
 * It throws errors with a `status` for what is not JSON, is over `jsonLimits`, has a member named `__proto__`, or is too large, and zlib's errors.
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
  const excess = findExcess(json)
  if (excess !== undefined) throw refusal(`it ${excess}`)
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw refusal((error as Error).message)
  }
  if (hasPrototypeMember(value)) throw refusal('an object has a member named __proto__')
  return value
}

function refusal(message: string): Error {
  return Object.assign(new SyntaxError(message), { status: 400 })
}
