/** Parses query, headers and body of a request by the contract of its endpoint. */
import { reasons } from '../../src/foundation/faults.ts'
import type { Context } from 'koa'
import type * as z from 'zod'
import type { Config } from '../../src/foundation/config/config.ts'
import { Problem } from '../../src/foundation/problem.ts'
import {
  createAnyReader,
  createFormReader,
  createJsonReader,
  decodeBody,
  defaultMaxBytes,
  streamBody,
} from './body.ts'
import type { Contract } from './route.ts'

/** Undefined for a contract without a body. */
function createBodyDecoder(
  { body, form, anyBody, bodyLimit }: Contract,
  config: Config,
): ((ctx: Context) => Promise<unknown>) | undefined {
  if (form) return createFormReader()
  if (!body) return undefined
  const maxBytes = Math.max(bodyLimit?.(config) ?? 0, defaultMaxBytes)
  if (anyBody) return createAnyReader(maxBytes)
  const read = createJsonReader(maxBytes)
  return (ctx) => decodeBody(ctx, body, read)
}

/**
 * Makes the parser of requests. It throws {Problem} `BadRequest` for query and headers, and the errors of
 * bodies.
 */
export function createInputDecoder(contract: Contract, config: Config) {
  const { query, headers, stream } = contract
  const readBody = createBodyDecoder(contract, config)
  return async (ctx: Context) => ({
    query: query ? parse('query', query, ctx.query) : {},
    headers: headers ? parse('headers', headers, ctx.headers) : {},
    body: await readBody?.(ctx),
    stream: stream && streamBody(ctx, stream.media, stream.limit(config)),
  })
}

/** Parses the parameters that the contract names. Others are ignored. */
function parse<Type extends z.ZodObject>(part: 'query' | 'headers', type: Type, value: unknown) {
  const result = type.safeParse(value)
  if (result.success) return result.data
  const subject = part === 'query' ? 'The query is' : 'The headers are'
  throw new Problem('BadRequest', `${subject} not valid. ${reasons(result.error)}`)
}

/**
 * The milliseconds that a client is willing to wait, at most `maxMs` (`Prefer`, RFC 7240): the seconds of
 * `wait`; without `wait`, none with `respond-async`.
 */
export function readWait(prefer: string | undefined, maxMs: number): number {
  const preferences = (prefer ?? '').split(',').map((each) => each.split(';')[0]!.trim().toLowerCase())
  const seconds = preferences
    .map((each) => /^wait\s*=\s*"?(\d{1,6})"?$/.exec(each)?.[1])
    .find((found) => found !== undefined)
  if (seconds !== undefined) return Math.min(Number(seconds) * 1_000, maxMs)
  return preferences.includes('respond-async') ? 0 : maxMs
}
