/** A client of the endpoints that upload or download a file. */
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { ask, type Request } from './send-request.ts'
import { DaemonUnreachable, refusalOf, toTarget, type Destination } from './client.ts'
import type { Key } from '../http/route.ts'

/** The maximum time without data. The daemon copies a large wallet before it sends the first byte. */
const silenceMs = 120_000

export type FileClient = {
  /**
   * Sends JSON, if there is a body, and returns the file in the response. Reading it may throw the same
   * errors.
   */
  download(key: Key, input: Destination & { body?: object }): Promise<AsyncIterable<Uint8Array>>
  /** Sends a file of `length` bytes and returns the JSON response. */
  upload(
    key: Key,
    input: Destination & { headers?: Readonly<Record<string, string>>; content: Readable; length: number },
  ): Promise<unknown>
}

/**
 * Makes a client for the API at `baseUrl`. `headers` contain the credentials.
 *
 * Calls throw `ProblemError` for any status except 2xx, and `DaemonUnreachable` if the response is missing or
 * breaks off.
 */
export function createFileClient(baseUrl: string, headers: Readonly<Record<string, string>>): FileClient {
  const base = baseUrl.replace(/\/+$/, '')

  async function exchange(
    key: Key,
    to: Destination,
    request: Pick<Request, 'headers' | 'body'>,
  ): Promise<AsyncIterable<Uint8Array>> {
    const [method, target] = toTarget(key, to)
    const silence = new AbortController()
    const timer = setTimeout(
      () => silence.abort(new DOMException('the daemon sends nothing', 'TimeoutError')),
      silenceMs,
    )
    const unreachable = (cause: unknown) => {
      clearTimeout(timer)
      return new DaemonUnreachable(base, { cause: silence.signal.aborted ? silence.signal.reason : cause })
    }
    const { headers: all, body } = request
    const sent = typeof body === 'object' ? Readable.from(watched(body), { objectMode: false }) : body
    const response = await ask(new URL(base + target), {
      method,
      headers: all,
      body: sent,
      signal: silence.signal,
    }).catch((error: unknown) => {
      throw unreachable(error)
    })
    const content = chunks()
    if (!String(response.statusCode).startsWith('2')) throw refusalOf(response, await text(content))
    return content

    async function* watched(stream: AsyncIterable<Uint8Array>) {
      for await (const chunk of stream) {
        timer.refresh()
        yield chunk
      }
    }

    async function* chunks() {
      try {
        yield* watched(response)
      } catch (error) {
        throw unreachable(error)
      } finally {
        clearTimeout(timer)
      }
    }
  }

  return {
    download: (key, { body, ...to }) =>
      exchange(key, to, {
        headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
        body: body && JSON.stringify(body),
      }),
    async upload(key, { headers: more, content, length, ...to }) {
      const type = { 'content-type': 'application/octet-stream', 'content-length': String(length) }
      const answer = await exchange(key, to, { headers: { ...type, ...more, ...headers }, body: content })
      return JSON.parse(await text(answer))
    },
  }
}
