/**
 * What a request says, as the contract's types: its query and its JSON body (api.md 1.2).
 *
 * A reason names the field by its dotted path and says what was expected, never what was sent: that may be a secret.
 */
import type { Context } from 'koa'
import type { z } from 'zod'
import { JsonError } from '../../src/base/json.ts'
import type { Config } from '../../src/base/config.ts'
import { Problem } from '../../src/base/problem.ts'
import { streamBody } from './body-stream.ts'
import { createJsonReader, type ReadJson } from './json-body.ts'
import type { Contract } from './route.ts'

/** The longest body, in bytes, after decompression; a contract may allow for more. */
export const bodyLimit = 1_048_576

const reasonLimit = 10
const pathLimit = 200

/** Makes the function that parses query, headers and body of a request by a contract. */
export function createInputDecoder(contract: Contract, config: Config) {
  const { query, headers, body, stream } = contract
  const maxBytes = Math.max(contract.bodyLimit?.(config) ?? bodyLimit, bodyLimit)
  const parse = createJsonReader(maxBytes)
  const read: ReadJson = (ctx) => readBody(ctx, parse, maxBytes)
  const streamLimit = stream && { ...stream, limit: stream.limit(config) }
  return async (ctx: Context) => ({
    query: query ? decodeQuery(ctx, query) : {},
    headers: headers ? decodeHeaders(ctx, headers) : {},
    body: body && (contract.anyBody ? await decodeAnything(ctx, read) : await decodeBody(ctx, body, read)),
    stream: streamLimit && streamBody(ctx, streamLimit),
  })
}

/**
 * Reads and parses a JSON body; an empty one and `null` count as `{}`.
 *
 * @throws {Problem} `UnsupportedMediaType`, `RequestBodyTooLarge`, `RequestBodyDecodingFailure`
 */
async function decodeBody<Type extends z.ZodType>(
  ctx: Context,
  type: Type,
  read: ReadJson,
): Promise<z.output<Type>> {
  if (hasBody(ctx) && !isJson(ctx.headers['content-type'])) {
    throw new Problem(
      'error:UnsupportedMediaType',
      'The body must be JSON. Send it with the header `Content-Type: application/json`.',
    )
  }
  await read(ctx)
  const { body, rawBody } = ctx.request
  // The parser leaves it out when the caller is gone already; what is done then must not be done with an empty body.
  if (body === undefined) throw undecodable('body: the connection was closed before it arrived')
  const result = type.safeParse(rawBody === '' ? {} : (body ?? {}))
  if (!result.success) throw undecodable(reasons(result.error))
  return result.data
}

/** The JSON of a body, or nothing where it is none. @throws {Problem} when the connection was closed before it arrived. */
async function decodeAnything(ctx: Context, read: ReadJson): Promise<unknown> {
  try {
    await read(ctx)
  } catch (error) {
    const isGone = ctx.req.destroyed && !ctx.req.complete
    if (error instanceof Problem && !isGone) return undefined
    throw error
  }
  const { body } = ctx.request
  if (body === undefined) throw undecodable('body: the connection was closed before it arrived')
  return body
}

/** Parses the query; parameters that the contract does not name are ignored. @throws {Problem} `BadRequest` */
function decodeQuery<Type extends z.ZodObject>(ctx: Context, type: Type): z.output<Type> {
  const result = type.safeParse(ctx.query)
  if (!result.success) throw new Problem('BadRequest', `The query is not valid. ${reasons(result.error)}`)
  return result.data
}

/** Parses the headers that the contract names, in lower case. @throws {Problem} `BadRequest` */
function decodeHeaders<Type extends z.ZodObject>(ctx: Context, type: Type): z.output<Type> {
  const result = type.safeParse(ctx.headers)
  if (!result.success) throw new Problem('BadRequest', `The headers are not valid. ${reasons(result.error)}`)
  return result.data
}

async function readBody(ctx: Context, parse: ReadJson, maxBytes: number): Promise<void> {
  try {
    await parse(ctx)
  } catch (error) {
    const { status, message } = error as { status?: number; message: string }
    if (status === 413)
      throw new Problem('error:RequestBodyTooLarge', `The body is larger than ${maxBytes} bytes.`)
    if (status === 415)
      throw new Problem(
        'error:UnsupportedMediaType',
        'The body is compressed in a way that is not understood. Send it as it is, or with gzip, deflate or br.',
      )
    if (error instanceof JsonError) throw undecodable(`body: it ${error.message}`)
    if (status !== undefined || isDecompressionError(error)) throw undecodable(`body: ${message}`)
    throw error
  }
}

function hasBody({ headers }: Context): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** No type at all passes for JSON, because simple clients send none. */
function isJson(contentType: string | undefined): boolean {
  return (
    contentType === undefined ||
    contentType === '' ||
    /^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType)
  )
}

/** Gzip and deflate have codes of zlib's; those of Brotli's decoder begin with two words less, as Node.js cuts them. */
function isDecompressionError(error: unknown): boolean {
  return /^(?:Z_|ERR__ERROR_|ERR_(?:BROTLI|ZSTD)_|ZSTD_)/.test(String((error as { code?: unknown }).code))
}

function undecodable(detail: string): Problem {
  return new Problem('error:RequestBodyDecodingFailure', detail)
}

/** The first reasons why a value does not fit, each `path.to.field: reason`. */
export function reasons(error: z.core.$ZodError): string {
  const all = error.issues.flatMap((issue) => describe(issue, []))
  const more = all.length > reasonLimit ? [`and ${all.length - reasonLimit} more`] : []
  return [...all.slice(0, reasonLimit), ...more].join('; ')
}

function describe(issue: z.core.$ZodIssue, parents: PropertyKey[]): string[] {
  const path = [...parents, ...issue.path]
  const inside =
    issue.code === 'invalid_union'
      ? nearest(issue.errors)
      : issue.code === 'invalid_key' || issue.code === 'invalid_element'
        ? issue.issues
        : []
  if (inside.length > 0) return inside.flatMap((inner) => describe(inner, path))
  return [`${path.join('.').slice(0, pathLimit) || 'body'}: ${issue.message}`]
}

/** Of the alternatives that a value does not fit, the one it misses by least: by fields of it rather than as a whole, and by few. */
function nearest(alternatives: z.core.$ZodIssue[][]): z.core.$ZodIssue[] {
  const missedBy = (issues: z.core.$ZodIssue[]) =>
    issues.some(({ path }) => path.length === 0) ? Infinity : issues.length
  return alternatives.toSorted((a, b) => missedBy(a) - missedBy(b) || 0)[0] ?? []
}
