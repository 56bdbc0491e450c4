/** HTTP servers: limits for connections and slow clients, from binding to stopping. */
import { once } from 'node:events'
import type { RequestListener, Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, test, vi } from 'vitest'
import type { ConnectionLimits } from '../../daemon/server/listen.ts'
import { sharedAgent } from '../support/agent.ts'
import { built } from '../support/built.ts'

const { bind, serve, stop, urlOf } = built

async function start(
  limits: Partial<ConnectionLimits> = {},
  listener: RequestListener = (_request, response) => response.end('here'),
) {
  const server = await bind('127.0.0.1', 0, 'AGENT_HTTP_PORT', limits)
  serve(server, listener)
  return { server, url: urlOf(server, '127.0.0.1'), [Symbol.asyncDispose]: () => stop(server) }
}

async function open(server: Server): Promise<Socket> {
  const { port } = server.address() as { port: number }
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

/** Reads until the server closes the connection. */
async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  if (!socket.closed) await once(socket, 'close')
  return Buffer.concat(chunks).toString()
}

const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'

/** Sends a request on an open connection and returns the first part of the response. */
async function ask(socket: Socket): Promise<string> {
  const response = once(socket, 'data') as Promise<[Buffer]>
  socket.write(request)
  return (await response)[0].toString()
}

test('a server answers 503 until it serves', async () => {
  const server = await bind('127.0.0.1', 0, 'AGENT_HTTP_PORT')
  try {
    const url = urlOf(server, '127.0.0.1')
    const early = await fetch(url)
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1'])
    serve(server, (_request, response) => response.end('here'))
    expect(await (await fetch(url)).text()).toBe('here')
  } finally {
    await stop(server)
  }
})

test('a stopping server closes connections that have sent nothing, and does not wait for them', async () => {
  const { server } = await start()
  const force = vi.spyOn(server, 'closeAllConnections')
  const closed = readAll(await open(server))
  await stop(server)
  expect(await closed).toBe('')
  expect(force).not.toHaveBeenCalled()
})

test('connections above the limit of an address are closed; a closed connection makes room', async () => {
  await using started = await start({ perAddress: 2 })
  const [first, second] = [await open(started.server), await open(started.server)]
  expect(await ask(first)).toContain('200 OK')
  expect(await readAll(await open(started.server))).toBe('')
  expect(await ask(second)).toContain('200 OK')
  second.end()
  await readAll(second)
  expect(await ask(await open(started.server))).toContain('200 OK')
  first.destroy()
})

test('connections above the total limit are closed, and idle connections then make room', async () => {
  await using started = await start({ total: 1 })
  const idle = await open(started.server)
  expect(await ask(idle)).toContain('200 OK')
  const gone = readAll(idle)
  expect(await readAll(await open(started.server))).toBe('')
  await gone
  expect(await ask(await open(started.server))).toContain('200 OK')
})

test('a client that sends no request, or only a part of one, is disconnected', async () => {
  await using started = await start({ headersTimeoutMs: 100, requestTimeoutMs: 200, checkIntervalMs: 50 })
  const [silent, halfHead, halfBody] = [
    await open(started.server),
    await open(started.server),
    await open(started.server),
  ]
  halfHead.write('GET / HTTP/1.1\r\nHost: loc')
  halfBody.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf')
  const [, head] = await Promise.all([readAll(silent), readAll(halfHead), readAll(halfBody)])
  expect(head).toContain('408 Request Timeout')
})

test('a head that is too large and data that is not HTTP are refused', async () => {
  await using started = await start()
  expect((await fetch(`${started.url}/?${'q'.repeat(20_000)}`)).status).toBe(431)
  expect((await fetch(started.url, { headers: { 'x-long': 'x'.repeat(20_000) } })).status).toBe(431)
  const nonsense = await open(started.server)
  const response = readAll(nonsense)
  nonsense.write('nonsense\r\n\r\n')
  expect(await response).toContain('400 Bad Request')
})

test('an error response never follows a part of another response', async () => {
  await using started = await start({}, (_request, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('half')
  })
  const socket = await open(started.server)
  socket.once('data', () => socket.write('nonsense\r\n\r\n'))
  const response = readAll(socket)
  socket.write(request)
  expect(await response).toMatch(/half$/)
})

test('a client that does not read its response is disconnected', async () => {
  // More than all buffers hold.
  const large = Buffer.alloc(32_000_000)
  await using started = await start({ inactivityTimeoutMs: 100 }, (_request, response) => response.end(large))
  const gone = once(started.server, 'request').then(([, response]) =>
    once(response as NodeJS.EventEmitter, 'close'),
  )
  const socket = await open(started.server)
  socket.pause()
  socket.write(request)
  await gone
  socket.destroy()
})

test('a client that pipelines requests without end is not read any further', async () => {
  const agent = await sharedAgent({ TENANT_REQUESTS_AT_ONCE: '1', TENANT_REQUESTS_WAITING: '10' })
  const { port } = new URL(agent.url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const { id } = await agent.tenant('POST /did-authentication/challenges')
  const apikey = agent.agent.defaultApiKey!.reveal()
  const of = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\napikey: ${apikey}\r\n\r\n`
  // The first response is delayed, so the others wait for it and are not read.
  socket.pause()
  socket.write(of(`/did-authentication/challenges/${id}?wait=50`))
  let sent = 0
  while (socket.write(of('/connections').repeat(1_000)) || (await drained(socket))) sent += 1_000
  expect(sent).toBeLessThan(100_000)
  socket.destroy()
})

/** Returns whether a socket becomes writable within a second. */
const drained = (socket: Socket) =>
  Promise.race([
    once(socket, 'drain').then(() => true),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 1_000)),
  ])
