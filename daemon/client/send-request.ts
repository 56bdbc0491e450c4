/** Sends the requests of all clients of the daemon. */
import type { IncomingMessage, RequestOptions } from 'node:http'
import type { Duplex, Readable } from 'node:stream'

export type Request = {
  method?: string
  headers: Readonly<Record<string, string>>
  body?: string | Readable | undefined
  signal: AbortSignal
}

/** The fingerprints (SHA-256) of the only certificates that are accepted, by the origins of their servers. */
const pinned = new Map<string, string>()

/** Accepts only this certificate from now on, also one that is self-signed, or of another name. */
export function acceptOnly(url: string, fingerprint: string): void {
  pinned.set(new URL(url).origin, fingerprint)
}

/** The server has another certificate than the one that is accepted. */
export class CertificateChanged extends Error {
  override name = 'CertificateChanged'
  readonly found: string
  readonly accepted: string

  constructor(found: string, accepted: string) {
    super(`The certificate of the server is ${found}, and not ${accepted} (SHA-256).`)
    this.found = found
    this.accepted = accepted
  }
}

/** Connects to the server of a URL. Nothing is sent to a server with another certificate. */
function connectPinned(
  url: URL,
  accepted: string,
  signal: AbortSignal,
  callback: (error: Error | null, socket?: Duplex) => void,
): void {
  const { connect } = process.getBuiltinModule('node:tls')
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const socket = connect({ host, port: Number(url.port || 443), rejectUnauthorized: false })
  const abort = () => void socket.destroy()
  const done = (error: Error | null) => {
    signal.removeEventListener('abort', abort)
    socket.removeAllListeners('error')
    if (error === null) return callback(null, socket)
    socket.on('error', () => undefined).destroy()
    callback(error)
  }
  signal.addEventListener('abort', abort, { once: true })
  socket.once('error', done)
  socket.once('secureConnect', () => {
    const found = socket.getPeerX509Certificate()?.fingerprint256 ?? 'none'
    done(found === accepted ? null : new CertificateChanged(found, accepted))
  })
}

/**
 * Sends a request over a new connection and returns the response when its headers have arrived. `fetch` is
 * not used, because loading it takes longer than a call.
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
    const accepted = url.protocol === 'https:' ? pinned.get(url.origin) : undefined
    const connection =
      accepted === undefined
        ? { agent: false as const }
        : {
            createConnection: (_: object, callback: (error: Error | null, socket: Duplex) => void) =>
              connectPinned(url, accepted, signal, callback as never),
          }
    const asked = request(url, {
      ...options,
      headers: { ...headers, ...length },
      signal,
      ...connection,
    } as RequestOptions)
    asked.on('response', (response) => resolve(response.on('error', reject)))
    asked.on('error', (error) => reject(signal.aborted ? signal.reason : error))
    if (typeof body === 'string' || body === undefined) asked.end(body)
    else body.on('error', (error) => asked.destroy(error)).pipe(asked)
  })
}
