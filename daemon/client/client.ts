/**
 * A client of the daemon whose types follow from the routes.
 *
 * The routes are imported as types only: the command line loads none of the server.
 */
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type * as z from 'zod'
import { ask, type Request } from './send-request.ts'
import type { Contract, Key, Reply, Route } from '../http/route.ts'
import type { Routes } from '../routes/index.ts'

/** A part of the input: absent if the contract has none, optional if it may be empty. */
type Part<Name extends string, Type> = Type extends z.ZodType
  ? {} extends z.input<Type>
    ? { [N in Name]?: z.input<Type> }
    : { [N in Name]: z.input<Type> }
  : {}
type Names<Type> =
  Type extends Readonly<Record<string, z.ZodType>> ? { path: { [N in keyof Type]: z.input<Type[N]> } } : {}

/** The input of a call: `{ path, query, headers, body }`, as far as the contract has them. */
export type CallInput<C extends Contract> = Names<C['path']> &
  Part<'query', C['query']> &
  Part<'headers', C['headers']> &
  Part<'body', C['body']>

/** Types by key. A union of all routes would give more combinations than the compiler supports. */
type Inputs<Rs extends readonly Route[]> = { [R in Rs[number] as R['key']]: CallInput<R['contract']> }
type Replies<Rs extends readonly Route[]> = { [R in Rs[number] as R['key']]: Reply<R['contract']> }

/** The input is optional if no part is required, and absent if the contract has no parts. */
type Rest<Input> = [keyof Input] extends [never] ? [] : {} extends Input ? [input?: Input] : [input: Input]

export type Client<Rs extends readonly Route[] = Routes> = <K extends Rs[number]['key']>(
  key: K,
  ...rest: Rest<Inputs<Rs>[K]>
) => Promise<Replies<Rs>[K]>

/** The body of an error response. */
export type ProblemBody = { status: number; type: string; title: string; detail?: string; instance?: string }

/** The daemon answered with an error. */
export class ProblemError extends Error {
  override name = 'ProblemError'
  readonly problem: ProblemBody

  constructor(problem: ProblemBody) {
    super(problem.detail ?? problem.title)
    this.problem = problem
  }
}

/** No daemon answers at this address, or its response broke off. */
export class DaemonUnreachable extends Error {
  override name = 'DaemonUnreachable'
  readonly url: string

  constructor(url: string, options?: ErrorOptions) {
    super(`No agent answers at ${url}.`, options)
    this.url = url
  }
}

export type ClientOptions = {
  /** The time for a whole call. */
  timeoutMs?: number
}

/**
 * Makes a client for the API at `baseUrl`. `headers` are sent with each call and contain the credentials.
 *
 * A call returns the body of the response. It throws `ProblemError` for any status except 2xx, and `DaemonUnreachable`
 * without a response.
 */
export function createClient<Rs extends readonly Route[] = Routes>(
  baseUrl: string,
  headers: Readonly<Record<string, string>> = {},
  { timeoutMs = 30_000 }: ClientOptions = {},
): Client<Rs> {
  const base = baseUrl.replace(/\/+$/, '')
  return (async (key: Key, input: UntypedInput = {}) => {
    const [method, target] = toTarget(key, input)
    const body = input.body === undefined ? undefined : JSON.stringify(input.body)
    const { response, content } = await send(base, target, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...input.headers,
        ...headers,
      },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (!String(response.statusCode).startsWith('2')) throw toProblemError(response, content)
    return read(response, content)
  }) as Client<Rs>
}

/** The parameters of the URL of a call. */
export type Destination = {
  path?: Record<string, string>
  query?: Record<string, string | number | boolean | undefined>
}

/** `CallInput` of any contract. */
type UntypedInput = Destination & { headers?: Record<string, string>; body?: unknown }

/** The method of an endpoint, and its path and query with the parameters filled in. */
export function toTarget(
  key: Key,
  { path: names = {}, query: given = {} }: Destination,
): [method: string, target: string] {
  const [method, path] = key.split(' ') as [string, string]
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ''))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value))
  return [method, query.size > 0 ? `${filled}?${query.toString()}` : filled]
}

async function send(
  base: string,
  target: string,
  request: Request,
): Promise<{ response: IncomingMessage; content: string }> {
  try {
    const response = await ask(new URL(base + target), request)
    return { response, content: await text(response) }
  } catch (cause) {
    throw new DaemonUnreachable(base, { cause: request.signal.aborted ? request.signal.reason : cause })
  }
}

/** The error for a response that is not 2xx. */
export function toProblemError(response: IncomingMessage, content: string): ProblemError {
  return new ProblemError(toProblemBody(response, read(response, content)))
}

/** The body: parsed if it is JSON by its media type, undefined if it is empty. */
function read({ headers }: IncomingMessage, content: string): unknown {
  if (content === '') return undefined
  if (!/\bjson\b/.test(headers['content-type'] ?? '')) return content
  try {
    return JSON.parse(content)
  } catch {
    return content
  }
}

/** Completes the body of an error, because a proxy may have sent it. */
function toProblemBody(
  { statusCode: status = 0, statusMessage }: IncomingMessage,
  content: unknown,
): ProblemBody {
  const given: Partial<ProblemBody> = typeof content === 'object' && content !== null ? content : {}
  return { type: 'about:blank', title: statusMessage || `HTTP status ${status}`, ...given, status }
}
