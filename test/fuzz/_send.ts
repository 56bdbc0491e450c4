/** Sends requests that ordinary clients cannot send, and returns the status. */
import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { WebSocket } from 'ws'
import type { Draw } from './_draw.ts'
import type { Request } from './_request.ts'

/** Without `status`, the connection ended without an answer, as it may after malformed HTTP. */
export type Answer = { status?: number; type: string; text: string }

/** The time limit of an answer, longer than any long poll, and the number of bytes read of an endless answer. */
const patienceMs = 90_000
const streamedMs = 100

export type Sender = { send(base: string, request: Request): Promise<Answer>; close(): void }

export function createSender(): Sender {
  const agent = new Agent({ keepAlive: true })
  return { send: (base, request) => send(agent, base, request), close: () => agent.destroy() }
}

function send(
  agent: Agent,
  base: string,
  { method, target, headers, body, isCut = false }: Request,
): Promise<Answer> {
  const { hostname, port } = new URL(base)
  return new Promise((resolve, reject) => {
    const length: Record<string, string> =
      body || !['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(method)
        ? { 'content-length': String(body?.length ?? 0) }
        : {}
    const outgoing = httpRequest({
      agent,
      hostname,
      port,
      method,
      path: target,
      headers: { ...headers, ...length },
      setHost: !('host' in headers),
    })
    const timer = setTimeout(() => outgoing.destroy(new Error(`no answer in ${patienceMs} ms`)), patienceMs)
    const end = (answer: Answer) => {
      clearTimeout(timer)
      resolve(answer)
    }
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      // A server may close the connection before it has read a refused request (RFC 9112 §9.6).
      if (isCut || error.code === 'EPIPE' || error.code === 'ECONNRESET') resolve({ type: '', text: '' })
      else reject(error)
    })
    outgoing.on('upgrade', (_response, socket) => {
      socket.destroy()
      end({ status: 101, type: '', text: '' })
    })
    outgoing.on('response', (response) => {
      const { statusCode: status = 0, headers: received } = response
      const type = received['content-type'] ?? ''
      const chunks: Buffer[] = []
      const done = () => end({ status, type, text: Buffer.concat(chunks).toString() })
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', done)
      response.on('error', done)
      if (type.startsWith('text/event-stream')) setTimeout(() => outgoing.destroy(), streamedMs).unref()
    })
    if (!isCut) return outgoing.end(body)
    outgoing.write(body?.subarray(0, body.length / 2) ?? '')
    setTimeout(() => outgoing.destroy(), 5).unref()
  })
}

const requests: readonly ((path: string) => string)[] = [
  (path) => `GET ${path} HTTP/1.1\r\n\r\n`,
  (path) => `GET ${path} HTTP/1.0\r\n\r\n`,
  (path) => `GET ${path} HTTP/9.9\r\nHost: x\r\n\r\n`,
  (path) => `GET http://127.0.0.1:1${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  () => 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n',
  () => 'CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: localhost\r\n\r\n',
  (path) => `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}`,
  (path) => `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n{}`,
  (path) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  (path) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}`,
  (path) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
  (path) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n__proto__: x\r\n\r\n`,
  (path) => `GET ${path}?${'a=b&'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  (path) =>
    `GET ${path}?${'a[b]'.repeat(500)}=1&__proto__[x]=1&constructor=1 HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  (path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${'X-A: b\r\n'.repeat(3_000)}\r\n`,
  (path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-A: ${'b'.repeat(20_000)}\r\n\r\n`,
  (path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX\0: a\0b\r\n\r\n`,
  (path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nHost: other\r\n\r\n`,
  (path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\napikey: a\r\napikey: b\r\n__proto__: c\r\n\r\n`,
  (path) => `GET ${path}\0 HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  (path) => `GET ${path}\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  (path) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 99\r\n\r\n`,
  (path) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: x\r\n\r\n`,
  () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  (path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(20),
  () => '\r\n\r\n\r\n',
]

/**
 * Sends messages over a new WebSocket. 200 with the reply; no status if there is none or the socket is
 * closed.
 */
export function sendOverSocket(base: string, messages: (string | Uint8Array)[]): Promise<Answer> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${base.replace('http', 'ws')}/ws`)
    let text = ''
    const timer = setTimeout(() => socket.terminate(), 3 * streamedMs)
    socket.on('open', () => messages.forEach((message) => socket.send(message)))
    socket.on('message', (data: Buffer) => {
      text = data.toString()
      socket.close()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(timer)
      resolve({ ...(text !== '' && { status: 200 }), type: '', text })
    })
  })
}

/** Sends malformed HTTP. Returns the status if there is an answer. */
export function sendRaw(draw: Draw, base: string, path: string): Promise<Answer & { sent: string }> {
  const { hostname, port } = new URL(base)
  const sent = draw.of(requests)(path)
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(Number(port), hostname, () => socket.write(Buffer.from(sent, 'latin1')))
    const timer = setTimeout(() => socket.destroy(), streamedMs)
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      socket.end()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(timer)
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]
      resolve({ ...(status !== undefined && { status: Number(status) }), type: '', text: '', sent })
    })
  })
}
