/** Sends the requests of all clients of the daemon. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'

export type Request = {
  method?: string
  headers: Readonly<Record<string, string>>
  body?: string | Readable | undefined
  signal: AbortSignal
}

/**
 * Sends a request over a new connection and returns the response when its headers have arrived. `fetch` is not used,
 * because loading it takes longer than a call.
 *
 * Rejects with the signal's reason if the signal aborts, otherwise with the network error.
 */
export async function ask(
  url: URL,
  { body, headers, signal, ...options }: Request,
): Promise<IncomingMessage> {
  const { request } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
  return new Promise((resolve, reject) => {
    // node:http sets no length for the body of a DELETE.
    const length = typeof body === 'string' ? { 'content-length': Buffer.byteLength(body) } : {}
    const asked = request(url, { ...options, headers: { ...headers, ...length }, signal, agent: false })
    asked.on('response', (response) => resolve(response.on('error', reject)))
    asked.on('error', (error) => reject(signal.aborted ? signal.reason : error))
    if (typeof body === 'string' || body === undefined) asked.end(body)
    else body.on('error', (error) => asked.destroy(error)).pipe(asked)
  })
}
