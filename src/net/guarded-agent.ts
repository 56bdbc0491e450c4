/**
 * The HTTP client for every URL that a tenant or a peer names: schema URLs, webhooks, DIDComm service endpoints.
 *
 * Connections lead only where `policy.ts` lets them, which `connector.ts` sees to. Beyond that: http and https only, no user names in URLs, no
 * redirects unless asked for, a time limit over the whole exchange, and limits on what is read.
 */
import type { Dispatcher } from 'undici'
import { fromUtf8 } from '../base/bytes.ts'
import { createGuardedDispatcher, type ConnectionOptions } from './connector.ts'
import { UnreachableError } from './unreachable-error.ts'
import { systemReason } from '../base/reason.ts'

export type Exchange = {
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string
  timeoutMs: number
  /** How much of the answer is read; more is an error. */
  maxBytes: number
}

export type GetJsonOptions = {
  timeoutMs: number
  maxBytes: number
  /** Value of the `accept` header. */
  accept?: string
  /** Redirects followed, each of them checked like the first URL; none when absent. */
  maxRedirects?: number
}

/** All functions throw `UnreachableError`; its codes say why. `timeoutMs` covers everything from name resolution to the last byte. */
export type HttpClient = {
  /** Sends a body and gives the status, whichever it is, and `Retry-After` as it came. The answer's body is read up to a few KiB and dropped. */
  post(
    url: string,
    request: { headers: Record<string, string>; body: string | Uint8Array; timeoutMs: number },
  ): Promise<Posted>
  /** Sends a request and gives the status, whichever it is, and the body as text. No redirect is followed. */
  exchange(url: string, request: Exchange): Promise<Exchanged>
  /** Reads a JSON document; any status but 200 is an error. */
  getJson(url: string, options: GetJsonOptions): Promise<unknown>
  /** Ends what is under way, as a failure, and closes every connection. */
  close(): Promise<void>
}

/** What came back. `retryAfter` is seconds or a date, in the server's own words. */
export type Posted = { status: number; retryAfter?: string }

/** What came back, with a body in UTF-8; `date` is when, in the server's own words. */
export type Exchanged = { status: number; text: string; date?: string }

/** What is read of an answer that nobody wants, so that its connection can serve the next request. */
const drainBytes = 8_192

/** Makes a client with connections of its own. */
export function createHttpClient(options: ConnectionOptions): HttpClient {
  const agent = createGuardedDispatcher(options)

  async function send(
    url: URL,
    request: Pick<Dispatcher.RequestOptions, 'method' | 'headers' | 'body' | 'signal'>,
  ) {
    try {
      return await agent.request({ ...targetOf(url), ...request })
    } catch (error) {
      throw toUnreachable(error, url)
    }
  }

  return {
    async post(text, request) {
      return postThrough(agent, readUrl(text), request)
    },

    async exchange(text, { method, headers, body, timeoutMs, maxBytes }) {
      const url = readUrl(text)
      return within(timeoutMs, url, async (signal) => {
        const response = await send(url, { method, headers, body: body ?? null, signal })
        const { date } = response.headers
        return {
          status: response.statusCode,
          text: await readText(url, response, maxBytes),
          ...(typeof date === 'string' && { date }),
        }
      })
    },

    async getJson(text, { timeoutMs, maxBytes, accept = 'application/json', maxRedirects = 0 }) {
      const first = readUrl(text)
      return within(timeoutMs, first, async (signal) => {
        let url = first
        try {
          for (let left = maxRedirects; ; left--) {
            const response = await send(url, { method: 'GET', headers: { accept }, signal })
            if (response.statusCode === 200) return await readJson(url, response, maxBytes)
            await drain(response, signal)
            url = nextUrl(url, response, left)
          }
        } catch (error) {
          throw url === first ? error : withoutPlace(error, first)
        }
      })
    },

    close: () => agent.destroy(),
  }
}

/** Posts without the stream that undici's `request` makes of an answer, and without an AbortController: together a fifth of what a request costs. */
function postThrough(
  agent: Dispatcher,
  url: URL,
  { headers, body, timeoutMs }: Parameters<HttpClient['post']>[1],
): Promise<Posted> {
  return new Promise((resolve, reject) => {
    let posted: Posted | undefined
    let late: UnreachableError | undefined
    let started: Dispatcher.DispatchController | undefined
    let size = 0
    const end = (error?: unknown) => {
      clearTimeout(timer)
      // The status is the answer; a body that never ends does not take it back.
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
        // It had to wait for its turn until nobody wanted it any more.
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
    agent.dispatch({ ...targetOf(url), method: 'POST', headers, body }, handler)
  })
}

function targetOf(url: URL): { origin: string; path: string } {
  return { origin: url.origin, path: url.pathname + url.search }
}

function readUrl(text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new UnreachableError(
      'bad-url',
      'the address is not an http or https URL without user name and password',
    )
  }
  return url
}

/** Where an answer other than 200 leads. @throws {UnreachableError} when that is nowhere. */
function nextUrl(url: URL, { statusCode, headers }: Dispatcher.ResponseData, redirectsLeft: number): URL {
  if (![301, 302, 303, 307, 308].includes(statusCode) || typeof headers['location'] !== 'string') {
    throw new UnreachableError('bad-status', `${url.host} answered with status ${statusCode}`)
  }
  if (redirectsLeft <= 0)
    throw new UnreachableError('redirect', `${url.host} answered with a redirect, which is not followed`)
  const next = readUrl(headers['location'], url)
  if (url.protocol === 'https:' && next.protocol === 'http:') {
    throw new UnreachableError(
      'redirect',
      `${url.host} answered with a redirect from https to http, which is not followed`,
    )
  }
  return next
}

/** Where a redirect led is what the host said, and so not repeated. */
function withoutPlace(error: unknown, { host }: URL): unknown {
  if (!(error instanceof UnreachableError)) return error
  return new UnreachableError(
    error.code,
    `${host} answered with a redirect, and there is no document to be had where it leads`,
  )
}

async function readJson(url: URL, response: Dispatcher.ResponseData, maxBytes: number): Promise<unknown> {
  const bytes = await readBytes(url, response, maxBytes)
  try {
    return JSON.parse(fromUtf8(bytes))
  } catch {
    throw new UnreachableError('not-json', `${url.host} answered with something that is not JSON`)
  }
}

async function readText(url: URL, response: Dispatcher.ResponseData, maxBytes: number): Promise<string> {
  const bytes = await readBytes(url, response, maxBytes)
  try {
    return fromUtf8(bytes)
  } catch {
    throw new UnreachableError('not-text', `${url.host} answered with something that is not text in UTF-8`)
  }
}

async function readBytes(
  url: URL,
  { headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<Uint8Array> {
  const tooLarge = () =>
    new UnreachableError('too-large', `${url.host} answered with more than ${maxBytes} bytes`)
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    // Leaving the loop early closes the connection, so nothing of the rest is read.
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      size += chunk.length
      if (size > maxBytes || Number(headers['content-length']) > maxBytes) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (error) {
    throw toUnreachable(error, url)
  }
  return Buffer.concat(chunks)
}

/** Reads an unwanted body as far as it is short, and closes the connection otherwise. */
function drain({ body }: Dispatcher.ResponseData, signal: AbortSignal): Promise<void> {
  return body.dump({ limit: drainBytes, signal }).catch(() => undefined)
}

/** Does some work, and gives it up when it takes too long. An aborted request that still waits for its turn would not end by itself. */
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

function tooLate({ host }: URL, timeoutMs: number): UnreachableError {
  return new UnreachableError('timeout', `${host} did not answer within ${timeoutMs} ms`)
}

/** Keeps the machine's code of a failure and nothing else: what the parser quotes comes from the other side. */
function toUnreachable(error: unknown, url: URL): UnreachableError {
  if (error instanceof UnreachableError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
  if (code === 'ENOTFOUND') return new UnreachableError('no-such-host', `there is no host ${url.hostname}`)
  if (/TIMEOUT|ETIMEDOUT/.test(code))
    return new UnreachableError('timeout', `${url.host} did not answer in time`)
  return new UnreachableError('refused', `${url.host} could not be reached: ${systemReason({ code })}`)
}
