/** Sends a request on to another node. */
import { request as begin, type Agent } from 'node:https'
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { Problem } from '../../src/foundation/problem.ts'
import { splitAddress } from './connection.ts'
import { notOwnerHeader } from './listener.ts'

export type PeerRequest = {
  method: string
  path: string
  headers: OutgoingHttpHeaders
  body: Buffer | Readable
}

export type Options = {
  agent: Agent
  /** Aborts when another node has taken over, or the client is gone. */
  signal: AbortSignal
}

/** Whether a request can be repeated, whatever has become of the first one (RFC 9110 §9.2.1). */
export const isSafe = (method: string): boolean => ['GET', 'HEAD', 'OPTIONS'].includes(method)

/**
 * The response of a node. Undefined if the request can be sent again: nothing was done, or its method is
 * safe.
 *
 * @throws {Problem} 503 when the node ended before it has answered. What it has done is unknown then.
 */
export function sendToPeer(
  address: string,
  { method, path, headers, body }: PeerRequest,
  { agent, signal }: Options,
): Promise<IncomingMessage | undefined> {
  const [host, port] = splitAddress(address)
  return new Promise((resolve, reject) => {
    const sent = begin({ agent, host, port, method, path, headers, signal })
    let isConnected = false
    sent.once('socket', (socket) => {
      if (sent.reusedSocket) isConnected = true
      else socket.once('secureConnect', () => (isConnected = true))
    })
    sent.once('response', (response) => {
      if (response.headers[notOwnerHeader] === undefined) return resolve(response)
      response.resume()
      resolve(undefined)
    })
    sent.once('error', (error) => (!isConnected || isSafe(method) ? resolve(undefined) : reject(lost(error))))
    transmit(sent, body)
  })
}

/** A stream is read as fast as the node takes it. */
function transmit(sent: ClientRequest, body: Buffer | Readable): void {
  if (Buffer.isBuffer(body)) return void sent.end(body)
  body.once('error', (error) => sent.destroy(error))
  body.pipe(sent)
}

function lost(cause: unknown): Problem {
  const detail =
    'The node that handled the request ended before it answered, so it is unknown whether the request was done. Look whether it was, and send it again if not.'
  return new Problem('error:ServiceUnavailable', detail, { retryAfter: 1, cause })
}
