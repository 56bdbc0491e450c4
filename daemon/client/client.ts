/** The client of the command line, which sends the calls by node:http. */
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { ask } from './send-request.ts'
import {
  ProblemError,
  toProblemError,
  toReply,
  toRequest,
  type Client,
  type Response,
  type UntypedInput,
} from './call.ts'
import type { Key, Route } from '../http/route.ts'
import type { Routes } from '../routes/index.ts'

export { ProblemError, toTarget } from './call.ts'
export type { CallInput, Client, Destination } from './call.ts'

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
 * A call returns the body of the response. It throws `ProblemError` for any status except 2xx, and
 * `DaemonUnreachable` without a response.
 */
export function createClient<Rs extends readonly Route[] = Routes>(
  baseUrl: string,
  headers: Readonly<Record<string, string>> = {},
  { timeoutMs = 30_000 }: ClientOptions = {},
): Client<Rs> {
  const base = baseUrl.replace(/\/+$/, '')
  return (async (key: Key, input: UntypedInput = {}) => {
    const { target, ...request } = toRequest(key, input, headers)
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      const response = await ask(new URL(base + target), { ...request, signal })
      return toReply(toResponse(response, await text(response)))
    } catch (cause) {
      if (cause instanceof ProblemError) throw cause
      throw new DaemonUnreachable(base, { cause: signal.aborted ? signal.reason : cause })
    }
  }) as Client<Rs>
}

export function refusalOf(response: IncomingMessage, content: string): ProblemError {
  return toProblemError(toResponse(response, content))
}

function toResponse({ statusCode, statusMessage, headers }: IncomingMessage, content: string): Response {
  const contentType = headers['content-type'] ?? ''
  return { status: statusCode ?? 0, statusText: statusMessage ?? '', contentType, content }
}
