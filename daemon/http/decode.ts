/** Parses query, headers and body of a request by the contract of its endpoint. */
import type { Context } from 'koa'
import type * as z from 'zod'
import type { Config } from '../../src/base/config.ts'
import { Problem } from '../../src/base/problem.ts'
import {
  createFormReader,
  createJsonReader,
  decodeAnyBody,
  decodeBody,
  defaultMaxBytes,
  streamBody,
} from './body.ts'
import { reasons } from './reasons.ts'
import type { Contract } from './route.ts'

/** Makes the parser of requests. It throws {Problem} `BadRequest` for query and headers, and the errors of bodies. */
export function createInputDecoder(contract: Contract, config: Config) {
  const { query, headers, body, stream } = contract
  const readForm = createFormReader()
  const read = createJsonReader(Math.max(contract.bodyLimit?.(config) ?? 0, defaultMaxBytes))
  return async (ctx: Context) => ({
    query: query ? parse('query', query, ctx.query) : {},
    headers: headers ? parse('headers', headers, ctx.headers) : {},
    body: contract.form
      ? await readForm(ctx)
      : body && (contract.anyBody ? await decodeAnyBody(ctx, read) : await decodeBody(ctx, body, read)),
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
 * The milliseconds that a client is willing to wait, at most `maxMs` (`Prefer`, RFC 7240): the seconds of `wait`; without
 * `wait`, none with `respond-async`.
 */
export function readWait(prefer: string | undefined, maxMs: number): number {
  const preferences = (prefer ?? '').split(',').map((each) => each.split(';')[0]!.trim().toLowerCase())
  const seconds = preferences
    .map((each) => /^wait\s*=\s*"?(\d{1,6})"?$/.exec(each)?.[1])
    .find((found) => found !== undefined)
  if (seconds !== undefined) return Math.min(Number(seconds) * 1_000, maxMs)
  return preferences.includes('respond-async') ? 0 : maxMs
}
