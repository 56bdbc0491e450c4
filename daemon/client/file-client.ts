/** A client of the endpoints that take or give a file. */
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { ask, type Request } from './send-request.ts'
import { DaemonUnreachable, toProblemError, toTarget, type Destination } from './client.ts'
import type { Key } from '../http/route.ts'

/** How long either side may be silent, in milliseconds: a large wallet is copied before the first byte comes. */
const silenceMs = 120_000

export type FileClient = {
  /** Sends JSON for a file, which is read from the answer. What this throws, the answer may throw while it is read. */
  download(key: Key, input: Destination & { body: object }): Promise<AsyncIterable<Uint8Array>>
  /** Sends a file of so many bytes, and returns the JSON that comes back. */
  upload(
    key: Key,
    input: Destination & { headers: Readonly<Record<string, string>>; content: Readable; length: number },
  ): Promise<unknown>
}

/**
 * Makes a client for the API at `baseUrl`; `headers` carry the credentials.
 *
 * Calls throw `ProblemError` for any status but 2xx, `DaemonUnreachable` when there is no answer, or it stops.
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
      () => silence.abort(new DOMException('the daemon is silent', 'TimeoutError')),
      silenceMs,
    )
    const unreachable = (cause: unknown) => {
      clearTimeout(timer)
      return new DaemonUnreachable(base, { cause: silence.signal.aborted ? silence.signal.reason : cause })
    }
    const { headers: all, body } = request
    const sent = typeof body === 'object' ? Readable.from(heard(body), { objectMode: false }) : body
    const response = await ask(new URL(base + target), {
      method,
      headers: all,
      body: sent,
      signal: silence.signal,
    }).catch((error: unknown) => {
      throw unreachable(error)
    })
    const content = pieces()
    if (!String(response.statusCode).startsWith('2')) throw toProblemError(response, await text(content))
    return content

    async function* heard(stream: AsyncIterable<Uint8Array>) {
      for await (const piece of stream) {
        timer.refresh()
        yield piece
      }
    }

    async function* pieces() {
      try {
        yield* heard(response)
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
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    async upload(key, { headers: more, content, length, ...to }) {
      const type = { 'content-type': 'application/octet-stream', 'content-length': String(length) }
      const answer = await exchange(key, to, { headers: { ...type, ...more, ...headers }, body: content })
      return JSON.parse(await text(answer))
    },
  }
}
