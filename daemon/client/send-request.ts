/** How the clients of the daemon send a request. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'

export type Request = {
  method?: string
  headers: Readonly<Record<string, string>>
  body?: string | Readable | undefined
  signal: AbortSignal
}

/**
 * Sends a request over a connection of its own, which goes with the signal, and returns the response once its headers are there. Not
 * `fetch`: loading that takes a command longer than its call does.
 *
 * Rejects with the signal's reason when the signal has ended it, otherwise with what went wrong.
 */
export async function ask(
  url: URL,
  { body, headers, signal, ...options }: Request,
): Promise<IncomingMessage> {
  const { request } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
  return new Promise((resolve, reject) => {
    // Left to itself, node:http does not say where the body of a DELETE ends.
    const length = typeof body === 'string' ? { 'content-length': Buffer.byteLength(body) } : {}
    const asked = request(url, { ...options, headers: { ...headers, ...length }, signal, agent: false })
    asked.on('response', (response) => resolve(response.on('error', reject)))
    asked.on('error', (error) => reject(signal.aborted ? signal.reason : error))
    if (typeof body === 'string' || body === undefined) asked.end(body)
    else body.on('error', (error) => asked.destroy(error)).pipe(asked)
  })
}
