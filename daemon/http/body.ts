/** Request bodies: JSON, which is parsed, and files, which are streamed. */
import { reasons } from '../../src/foundation/faults.ts'
import { bodyParser } from '@koa/bodyparser'
import { finished } from 'node:stream/promises'
import type { Context } from 'koa'
import type * as z from 'zod'
import { hasPrototypeMember, JsonError, parseJson } from '../../src/foundation/json.ts'
import { Problem } from '../../src/foundation/problem.ts'

/** The maximum size of a body in bytes, after decompression, unless a contract has a higher one. */
export const defaultMaxBytes = 1_048_576

/** Reads and parses the JSON body of a request. `undefined`: the client disconnected before the body arrived. */
export type ReadJson = (ctx: Context) => Promise<{ value: unknown } | undefined>

type ReadText = (ctx: Context) => Promise<string | undefined>

/**
 * Makes the reader of JSON bodies of any media type, identity, gzip, deflate or br. An empty body is `{}`.
 *
 * @throws {Problem} `RequestBodyTooLarge`, `UnsupportedMediaType` (the encoding),
 * `RequestBodyDecodingFailure`; also for
 *   JSON that exceeds `jsonLimits`, or has a member named `__proto__`.
 */
export function createJsonReader(maxBytes: number): ReadJson {
  const readText = createTextReader(maxBytes)
  return async (ctx) => {
    const text = await readText(ctx)
    if (text === undefined) return undefined
    try {
      return { value: text === '' ? {} : parse(text) }
    } catch (error) {
      throw toBodyProblem(error, maxBytes)
    }
  }
}

/** Makes the reader of the text of bodies of any media type. @throws {Problem} as `createJsonReader` */
function createTextReader(maxBytes: number): ReadText {
  const parseText = bodyParser({
    enableTypes: ['text'],
    textLimit: String(maxBytes),
    parsedMethods: ['POST', 'PUT', 'PATCH', 'DELETE'],
  })
  return async (ctx) => {
    const { headers } = ctx.req
    const type = headers['content-type']
    try {
      // The parser selects bodies by media type.
      headers['content-type'] = 'text/plain'
      await parseText(ctx, () => Promise.resolve())
      const { body, rawBody } = ctx.request
      return body === undefined ? undefined : rawBody
    } catch (error) {
      throw toBodyProblem(error, maxBytes)
    } finally {
      if (type === undefined) delete headers['content-type']
      else headers['content-type'] = type
    }
  }
}

function parse(json: string): unknown {
  const value = parseJson(json)
  if (hasPrototypeMember(value)) throw new JsonError('has a member named __proto__')
  return value
}

function toBodyProblem(error: unknown, maxBytes: number): unknown {
  const { status, message } = error as { status?: number; message: string }
  if (status === 413)
    return new Problem('error:RequestBodyTooLarge', `The body is larger than ${maxBytes} bytes.`)
  if (status === 415)
    return new Problem(
      'error:UnsupportedMediaType',
      'The content encoding of the body is not supported. Send it uncompressed, or with gzip, deflate or br.',
    )
  if (error instanceof JsonError) return undecodable(`body: it ${error.message}`)
  return status !== undefined || isDecompressionError(error) ? undecodable(`body: ${message}`) : error
}

/**
 * Gzip and deflate errors have codes of zlib; Node.js builds the codes of Brotli from the decoder's, cut by
 * two words.
 */
function isDecompressionError(error: unknown): boolean {
  return /^(?:Z_|ERR__ERROR_|ERR_(?:BROTLI|ZSTD)_|ZSTD_)/.test(String((error as { code?: unknown }).code))
}

/**
 * Reads the body of an endpoint and parses it with its type. An empty body and `null` are parsed as `{}`.
 *
 * @throws {Problem} `UnsupportedMediaType`, `RequestBodyTooLarge`, `RequestBodyDecodingFailure`
 */
export async function decodeBody<Type extends z.ZodType>(
  ctx: Context,
  type: Type,
  read: ReadJson,
): Promise<z.output<Type>> {
  if (hasBody(ctx) && !isJson(ctx.headers['content-type']))
    throw new Problem(
      'error:UnsupportedMediaType',
      'The body must be JSON. Send it with the header `Content-Type: application/json`.',
    )
  const body = await read(ctx)
  if (body === undefined) throw disconnected()
  const result = type.safeParse(body.value ?? {})
  if (!result.success) throw undecodable(reasons(result.error))
  return result.data
}

/**
 * Makes the reader of endpoints that accept any body: JSON is parsed, a JWT is text, other bodies are
 * `undefined`.
 */
export function createAnyReader(maxBytes: number): (ctx: Context) => Promise<unknown> {
  const [readJson, readText] = [createJsonReader(maxBytes), createTextReader(maxBytes)]
  const readJwt: ReadJson = async (ctx) => {
    const value = await readText(ctx)
    return value === undefined ? undefined : { value }
  }
  return async (ctx) => {
    const isDisconnected = () => ctx.req.destroyed && !ctx.req.complete
    const read = /^\s*application\/jwt\s*(;|$)/i.test(ctx.headers['content-type'] ?? '') ? readJwt : readJson
    const body = await read(ctx).catch((error: unknown) => {
      if ((error instanceof Problem || read === readJwt) && !isDisconnected()) return { value: undefined }
      throw error
    })
    if (body === undefined) throw disconnected()
    // Only a JWT is text.
    return read === readJson && typeof body.value === 'string' ? undefined : body.value
  }
}

/** The most bytes of a form. Its largest member is a JWT. */
const maxFormBytes = 65_536

/** Makes the reader of forms (`application/x-www-form-urlencoded`). @throws {Problem} as `decodeBody` */
export function createFormReader(): (ctx: Context) => Promise<URLSearchParams> {
  const read = createTextReader(maxFormBytes)
  return async (ctx) => {
    if (!/^\s*application\/x-www-form-urlencoded\s*(;|$)/i.test(ctx.headers['content-type'] ?? ''))
      throw new Problem(
        'error:UnsupportedMediaType',
        'The body must be a form. Send it with the header `Content-Type: application/x-www-form-urlencoded`.',
      )
    const text = await read(ctx)
    if (text === undefined) throw disconnected()
    return new URLSearchParams(text)
  }
}

function hasBody({ headers }: Context): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** A missing media type counts as JSON, because simple clients send none. */
function isJson(mediaType: string | undefined): boolean {
  return (
    mediaType === undefined ||
    mediaType === '' ||
    /^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i.test(mediaType)
  )
}

/**
 * The body of a request as a stream of at most `maxBytes`. If the consumer stops early, the rest is read and
 * dropped before the response, because a client that still sends would not see the response.
 *
 * @throws {Problem} `UnsupportedMediaType` at once; then `RequestBodyTooLarge`, `RequestBodyDecodingFailure`
 */
export function streamBody(
  { headers, req }: Context,
  media: string,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void> {
  const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity'
  const type = headers['content-type']?.split(';')[0]!.trim().toLowerCase()
  if (type !== media || !isPlain)
    throw new Problem(
      'error:UnsupportedMediaType',
      `The body must be the file itself. Send it with the header \`Content-Type: ${media}\`.`,
    )
  return chunks()

  async function* chunks() {
    let length = 0
    try {
      for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        length += chunk.length
        if (length > maxBytes)
          throw new Problem('error:RequestBodyTooLarge', `The body is larger than ${maxBytes} bytes.`)
        yield chunk
      }
    } catch (error) {
      throw error instanceof Problem || !req.destroyed ? error : disconnected(error)
    } finally {
      req.resume()
      await finished(req).catch(() => undefined)
    }
  }
}

function disconnected(cause?: unknown): Problem {
  return undecodable('body: the client disconnected before it arrived', cause)
}

function undecodable(detail: string, cause?: unknown): Problem {
  return new Problem('error:RequestBodyDecodingFailure', detail, { cause })
}
