/** The client of an agent's HTTP API for Node.js and browsers. */
import { toReply, toRequest, type UntypedInput } from '../../daemon/client/call.ts'
import type { Key } from '../../daemon/http/route.ts'
import { checkTimeout, withLimits, type Signal } from './deadline.ts'
import type { Inputs, Replies } from './endpoints.ts'
import { UnexpectedAnswerError, UnreachableError } from './errors.ts'

type Global = typeof globalThis

/** The `fetch` of the platform, if the program has its types. */
export type Fetch = Global extends { fetch: infer Type } ? Type : (url: string, init?: any) => Promise<any>

/** The `Response` of the platform, if the program has its types. */
export type FetchResponse = Global extends { Response: { prototype: infer Type } } ? Type : any

/** An endpoint: method and path, such as `POST /connections`. */
export type Endpoint = keyof Inputs

/** The input of an endpoint: `path`, `query`, `headers` and `body`, as far as the endpoint has them. */
export type Input<E extends Endpoint> = Inputs[E]

/** The body of a successful response of an endpoint. */
export type Reply<E extends Endpoint> = Replies[E]

export type CallOptions = {
  /** Ends the call. It then rejects with the reason of the signal. */
  signal?: Signal | undefined
  /** The time for the whole call, in milliseconds. Default: that of the client. */
  timeoutMs?: number | undefined
}

export type ClientOptions = {
  /** The key of a tenant, sent as `apikey`. */
  apiKey?: string | undefined
  /** The key of the administrator, sent as `x-admin-api-key`. */
  adminKey?: string | undefined
  /** Sends the requests. Default: the `fetch` of the platform. */
  fetch?: Fetch | undefined
  /** The time for a whole call, in milliseconds. Default: 30000. `Infinity` is no limit. */
  timeoutMs?: number | undefined
  /** Ends all calls and streams of the client. They then reject with the reason of the signal. */
  signal?: Signal | undefined
}

/** Optional if no part of the input is required. */
type Rest<I> = {} extends I ? [input?: I & CallOptions] : [input: I & CallOptions]

export type FetchInit = {
  method?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
  /** As the body of `fetch`. */
  body?: any
  signal?: Signal | undefined
}

export interface Client {
  /**
   * Calls an endpoint: `client('POST /connections', { body: { label: 'Alice' } })`. Returns the body of the
   * response.
   *
   * @throws {ProblemError} when the agent refuses. @throws {UnreachableError} @throws {UnexpectedAnswerError}
   * @throws {TimedOutError}
   */
  <E extends Endpoint>(endpoint: E, ...input: Rest<Input<E>>): Promise<Reply<E>>
  /** The base URL of the agent, without a slash at the end. */
  readonly url: string
  /**
   * Sends a request with the keys of the client, for files and pages: `client.fetch('/wallets')`. Returns any
   * response, and has no time limit. Redirects are not followed, because they could carry the keys to another
   * host.
   *
   * @throws {UnreachableError}
   */
  fetch(target: string, init?: FetchInit): Promise<FetchResponse>
}

/**
 * Makes a client of the agent at `url`, the base URL of its HTTP API. Nothing is sent yet.
 *
 * With both keys, an endpoint gets the one that it asks for.
 *
 * @throws {TypeError} for a URL, a key or a time limit that cannot be used.
 */
export function createClient(url: string, options: ClientOptions = {}): Client {
  const base = toBase(url)
  const { fetch: send = globalThis.fetch, signal: always } = options
  const keys = toHeaders(options)
  const usually = checkTimeout(options.timeoutMs ?? 30_000)

  async function request(target: string, { signal, headers, ...init }: FetchInit = {}) {
    try {
      return await send(base + target, {
        ...init,
        headers: { ...headers, ...keys(target) },
        ...(signal && { signal }),
        redirect: 'error',
        credentials: 'omit',
        cache: 'no-store',
      } as RequestInit)
    } catch (cause) {
      signal?.throwIfAborted()
      throw new UnreachableError(base, reasonOf(cause), { cause })
    }
  }

  async function call(key: Key, { signal, timeoutMs = usually, ...input }: UntypedInput & CallOptions = {}) {
    const { target, headers, ...sent } = toRequest(key, input, {})
    const limits = {
      timeoutMs: checkTimeout(timeoutMs),
      signals: [always, signal],
      describe: () => `The agent at ${base} has not answered ${key} within ${timeoutMs / 1_000} s.`,
    }
    return withLimits(limits, async (either) => {
      const accept = { accept: 'application/json', ...headers }
      return readReply(base, await request(target, { ...sent, headers: accept, signal: either }))
    })
  }

  const fetchWithKeys: Client['fetch'] = (target, init = {}) =>
    always === undefined
      ? request(target, init)
      : request(target, { ...init, signal: AbortSignal.any([always, ...(init.signal ? [init.signal] : [])]) })
  return Object.assign(call, { url: base, fetch: fetchWithKeys }) as unknown as Client
}

/**
 * The body of a response.
 *
 * @throws {ProblemError}
 * @throws {UnreachableError} when it breaks off.
 * @throws {UnexpectedAnswerError}
 */
export async function readReply(base: string, response: globalThis.Response): Promise<unknown> {
  const { status, statusText } = response
  const content = await response.text().catch((cause: unknown) => {
    throw new UnreachableError(base, 'the response broke off', { cause })
  })
  const contentType = response.headers.get('content-type') ?? ''
  if (content !== '' && !/\bjson\b/.test(contentType))
    throw new UnexpectedAnswerError(base, status, contentType.split(';')[0] || 'a body without a media type')
  return toReply({ status, statusText, contentType, content })
}

/** The base URL. @throws {TypeError} */
function toBase(url: string): string {
  const wayOut = 'give the base URL of the HTTP API, such as http://127.0.0.1:8085'
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch {
    throw new TypeError(`url: it is not a URL; ${wayOut}.`)
  }
  const { protocol, origin, pathname, username, password, search, hash } = parsed
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new TypeError(`url: it begins with ${protocol} instead of http: or https:; ${wayOut}.`)
  if (username + password + search + hash !== '')
    throw new TypeError(
      `url: it has more than a host and a path; ${wayOut}, and keys as apiKey and adminKey.`,
    )
  return origin + pathname.replace(/\/+$/, '')
}

/** The headers with the keys, for a path and query. */
function toHeaders({ apiKey, adminKey }: ClientOptions): (target: string) => Record<string, string> {
  for (const [name, value] of Object.entries({ apiKey, adminKey }))
    if (value !== undefined && !/^[\x21-\x7e]+$/.test(value))
      throw new TypeError(`${name}: it is empty, or has characters that a header cannot contain.`)
  const tenant = apiKey === undefined ? {} : { apikey: apiKey }
  const all = adminKey === undefined ? tenant : { ...tenant, 'x-admin-api-key': adminKey }
  // Events are the tenant's unless the request names a wallet.
  return (target) => (apiKey !== undefined && /^\/events\b(?!.*[?&]walletId=)/.test(target) ? tenant : all)
}

/** The deepest reason of a failed `fetch`, without its last full stop. */
function reasonOf(error: unknown): string {
  const { cause, code, message } = error as { cause?: unknown; code?: string; message?: string }
  if (cause instanceof Error) return reasonOf(cause)
  // The codes of the system are known; others, such as those of undici, say less than their message.
  return (code?.startsWith('E') ? code : (message ?? String(error))).replace(/\.$/, '')
}
