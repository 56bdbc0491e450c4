/**
 * The calls of a client of the daemon. Their types follow from the routes, which are imported as types only:
 * a client loads none of the server.
 *
 * Nothing here is of Node.js: `client.ts` sends the calls by node:http, and `library/client` by fetch.
 */
import type * as z from 'zod'
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

/** The parameters of the URL of a call. */
export type Destination = {
  path?: Record<string, string>
  query?: Record<string, string | number | boolean | undefined>
}

/** `CallInput` of any contract. */
export type UntypedInput = Destination & { headers?: Record<string, string>; body?: unknown }

/** What is sent. `target` is the path and the query. */
export type Request = {
  method: string
  target: string
  headers: Record<string, string>
  body: string | undefined
}

export type Response = { status: number; statusText: string; contentType: string; content: string }

/** The method of an endpoint, and its path and query with the parameters filled in. */
export function toTarget(
  key: Key,
  { path: names = {}, query: given = {} }: Destination,
): [method: string, target: string] {
  const [method, path] = key.split(' ') as [string, string]
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ''))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value))
  const text = query.toString()
  return [method, text === '' ? filled : `${filled}?${text}`]
}

/** The request of a call. `credentials` are headers. */
export function toRequest(
  key: Key,
  input: UntypedInput,
  credentials: Readonly<Record<string, string>>,
): Request {
  const [method, target] = toTarget(key, input)
  const body = input.body === undefined ? undefined : JSON.stringify(input.body)
  const headers = {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...input.headers,
    ...credentials,
  }
  return { method, target, headers, body }
}

/**
 * The body of a response: parsed if it is JSON by its media type, undefined if it is empty.
 *
 * @throws {ProblemError} unless it is 2xx.
 */
export function toReply(response: Response): unknown {
  if (response.status < 200 || response.status > 299) throw toProblemError(response)
  return read(response)
}

/** The error for a response that is not 2xx. Completes its body, because a proxy may have sent it. */
export function toProblemError(response: Response): ProblemError {
  const { status, statusText } = response
  const content = read(response)
  const given: Partial<ProblemBody> = typeof content === 'object' && content !== null ? content : {}
  return new ProblemError({
    type: 'about:blank',
    title: statusText || `HTTP status ${status}`,
    ...given,
    status,
  })
}

function read({ contentType, content }: Response): unknown {
  if (content === '') return undefined
  if (!/\bjson\b/.test(contentType)) return content
  try {
    return JSON.parse(content)
  } catch {
    return content
  }
}
