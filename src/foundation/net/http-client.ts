/**
 * The HTTP client for URLs that tenants and peers name: schemas, webhooks, DIDComm service endpoints.
 *
 * `connector.ts` allows connections only by `policy.ts`. In addition: only http and https, no user names in
 * URLs, no redirects unless requested, a time limit for the whole exchange, and limits on the response.
 */
import type { Dispatcher } from 'undici'
import { Metrics } from '../metrics.ts'
import { traceContext } from '../spans.ts'
import { measureCall, type Purpose } from './call-metrics.ts'
import { inCall } from './call-spans.ts'
import { createGuardedDispatcher, type ConnectionOptions } from './connector.ts'
import { acceptEncoding } from './content-coding.ts'
import { drain, drainBytes, readJson, readText } from './http-response.ts'
import { hideRedirect, isRedirect, nextUrl, readUrl } from './redirect.ts'
import { tooLate, toUnreachable, UnreachableError } from './unreachable-error.ts'

/** What metrics count a request as. Default: `other`. */
type Purposeful = { purpose?: Purpose }

export type Exchange = Purposeful & {
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string
  timeoutMs: number
  /** The most bytes of a response that are read, received and decoded. A longer response is an error. */
  maxBytes: number
  /** The encoding of the body in `text`. Default: UTF-8. */
  encoding?: 'utf8' | 'base64'
  /** Names, in lower case, of the response headers to return. */
  keptHeaders?: readonly string[]
}

export type PostRequest = Purposeful & {
  headers: Record<string, string>
  body: string | Uint8Array
  timeoutMs: number
  /**
   * Whether the receiver gets the trace of the request (`traceparent`), if traces are exported: it must be
   * the tenant's or the operator's own.
   */
  sendsTrace?: boolean
}

export type GetJsonOptions = Purposeful & {
  timeoutMs: number
  maxBytes: number
  /** The `Accept` header. */
  accept?: string
  /** The number of redirects to follow, each checked like the first URL. Default: 0. */
  maxRedirects?: number
  /** The document if the target of a redirect contains it. Undefined: the target is requested. */
  readTarget?: (location: string) => unknown
}

/** All functions throw `UnreachableError`. `timeoutMs` is from name resolution to the last byte. */
export type HttpClient = {
  /** Sends a body. A few KiB of the response body are read and dropped. */
  post(url: string, request: PostRequest): Promise<Posted>
  /** Sends a request without following redirects. Returns the status and the body as text. */
  exchange(url: string, request: Exchange): Promise<Exchanged>
  /** Reads a JSON document. Any status except 200 is an error. */
  getJson(url: string, options: GetJsonOptions): Promise<unknown>
  /** Aborts the requests under way and closes all connections. */
  close(): Promise<void>
}

/** `retryAfter` is the header as sent: seconds or a date. */
export type Posted = { status: number; retryAfter?: string }

/**
 * A response with its body as text; `date` and `retryAfter` are headers as sent, and `headers` has the
 * `keptHeaders` that were sent once, and `www-authenticate` as one list.
 */
export type Exchanged = {
  status: number
  text: string
  date?: string
  retryAfter?: string
  headers?: Record<string, string>
}

export function createHttpClient(options: ConnectionOptions, metrics = new Metrics(false)): HttpClient {
  // Loading undici takes a tenth of the start of a daemon, so the first request does it.
  let agent: ReturnType<typeof createGuardedDispatcher> | undefined
  const getAgent = () => (agent ??= createGuardedDispatcher(options))

  const call = <T>(
    purpose: Purpose | undefined,
    method: 'GET' | 'POST',
    url: string,
    work: () => Promise<T>,
  ) => measureCall(metrics, purpose ?? 'other', () => inCall(method, url, work))

  async function send(
    url: URL,
    request: Pick<Dispatcher.RequestOptions, 'method' | 'body' | 'signal'> & Pick<Exchange, 'headers'>,
  ) {
    try {
      const headers = { ...request.headers, 'accept-encoding': acceptEncoding }
      return await (await getAgent()).request({ ...targetOf(url), ...request, headers })
    } catch (error) {
      throw toUnreachable(error, url)
    }
  }

  return {
    post: (text, request) =>
      call(request.purpose, 'POST', text, async () => {
        const url = readUrl(text)
        return postThrough(await getAgent(), url, request)
      }),

    exchange: (text, { purpose, method, headers, body, timeoutMs, maxBytes, encoding, keptHeaders }) =>
      call(purpose, method, text, async () => {
        const url = readUrl(text)
        return within(timeoutMs, url, async (signal) => {
          const response = await send(url, { method, headers, body: body ?? null, signal })
          const { date, 'retry-after': retryAfter } = response.headers
          return {
            status: response.statusCode,
            text: await readText(url, response, maxBytes, encoding),
            ...(typeof date === 'string' && { date }),
            ...(keptHeaders && { headers: keep(response, keptHeaders) }),
            ...(typeof retryAfter === 'string' && { retryAfter }),
          }
        })
      }),

    getJson: (
      text,
      { purpose, timeoutMs, maxBytes, accept = 'application/json', maxRedirects = 0, readTarget },
    ) =>
      call(purpose, 'GET', text, async () => {
        const first = readUrl(text)
        return within(timeoutMs, first, async (signal) => {
          let url = first
          try {
            for (let left = maxRedirects; ; left--) {
              const response = await send(url, { method: 'GET', headers: { accept }, signal })
              if (response.statusCode === 200) return await readJson(url, response, maxBytes)
              await drain(response, signal)
              const document = isRedirect(response) ? readTarget?.(response.headers['location']) : undefined
              if (document !== undefined) return document
              url = nextUrl(url, response, left)
            }
          } catch (error) {
            throw url === first ? error : hideRedirect(error, first)
          }
        })
      }),

    close: async () => (await agent)?.destroy(),
  }
}

/**
 * Posts with `dispatch` of undici instead of `request`, without a stream and an AbortController, which saves
 * a fifth of the CPU time of a request.
 */
function postThrough(
  agent: Dispatcher,
  url: URL,
  { headers, body, timeoutMs, sendsTrace = false }: PostRequest,
): Promise<Posted> {
  const traceparent = sendsTrace ? traceContext() : undefined
  return new Promise((resolve, reject) => {
    let posted: Posted | undefined
    let late: UnreachableError | undefined
    let started: Dispatcher.DispatchController | undefined
    let size = 0
    const end = (error?: unknown) => {
      clearTimeout(timer)
      // The status is known. A body that never ends does not change it.
      if (posted) resolve(posted)
      else reject(toUnreachable(error, url))
    }
    const timer = setTimeout(() => {
      late = tooLate(url, timeoutMs)
      started?.abort(late)
      end(late)
    }, timeoutMs)
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        started = controller
        // The request was still queued when it was aborted.
        if (late) controller.abort(late)
      },
      onResponseStart(_, status, { 'retry-after': retryAfter }) {
        if (status >= 200) posted = { status, ...(typeof retryAfter === 'string' && { retryAfter }) }
      },
      onResponseData(controller, chunk) {
        size += chunk.length
        if (size > drainBytes) controller.abort(new UnreachableError('too-large', 'the rest is not wanted'))
      },
      onResponseEnd: () => end(),
      onResponseError: (_, error) => end(error),
    }
    agent.dispatch(
      {
        ...targetOf(url),
        method: 'POST',
        headers: traceparent === undefined ? headers : { ...headers, traceparent },
        body,
      },
      handler,
    )
  })
}

function keep({ headers }: Dispatcher.ResponseData, names: readonly string[]): Record<string, string> {
  const found = names.map((name) => {
    const value = headers[name]
    // It is a list, and servers send a line for each scheme (RFC 9110 §11.6.1).
    return [name, name === 'www-authenticate' && Array.isArray(value) ? value.join(', ') : value] as const
  })
  return Object.fromEntries(found.filter((each): each is [string, string] => typeof each[1] === 'string'))
}

function targetOf(url: URL): { origin: string; path: string } {
  return { origin: url.origin, path: url.pathname + url.search }
}

/** Runs work with a time limit. An aborted request that is still queued would not end by itself. */
async function within<T>(timeoutMs: number, url: URL, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = tooLate(url, timeoutMs)
      controller.abort(error)
      reject(error)
    }, timeoutMs)
  })
  try {
    return await Promise.race([work(controller.signal), late])
  } finally {
    clearTimeout(timer)
  }
}
