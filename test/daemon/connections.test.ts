/** How many connections a server takes, and how long it waits for whoever is at the other end. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { ConnectionLimits } from '../../daemon/server/connections.ts'
import type { RequestListener, Server } from 'node:http'
import { built } from '../_built.ts'

const { bind, serve, stop, urlOf } = built

async function start(
  limits: Partial<ConnectionLimits>,
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

/** All that comes until the other side ends the connection. */
async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(socket, 'close')
  return Buffer.concat(chunks).toString()
}

const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'

function parse(answer: string) {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  return {
    status: Number(head.split(' ')[1]),
    head: head.toLowerCase(),
    ...(JSON.parse(body) as { type: string; detail: string }),
  }
}

/** Asks on an open connection, and reads until an answer without a body of its own kind is there. */
async function ask(socket: Socket): Promise<string> {
  const answer = once(socket, 'data') as Promise<[Buffer]>
  socket.write(request)
  return (await answer)[0].toString()
}

test('an address has so many connections, and is told when it has another; one that is closed makes room', async () => {
  await using started = await start({ ofAddress: 2 })
  const [first, second] = [await open(started.server), await open(started.server)]
  expect(await ask(first)).toContain('200 OK')
  const refused = parse(await readAll(await open(started.server)))
  expect(refused).toMatchObject({ status: 429, type: 'TooManyRequests' })
  expect(refused.head).toContain('retry-after: 1')
  expect(refused.head).toContain('connection: close')
  second.end()
  await readAll(second)
  expect(await ask(await open(started.server))).toContain('200 OK')
  first.destroy()
})

test('there are so many connections in all: the next is told to come again, and those that nobody uses make room', async () => {
  await using started = await start({ inAll: 1 })
  const idle = await open(started.server)
  expect(await ask(idle)).toContain('200 OK')
  const gone = readAll(idle)
  const refused = parse(await readAll(await open(started.server)))
  expect(refused).toMatchObject({ status: 503, type: 'error:ServiceUnavailable' })
  expect(refused.head).toContain('retry-after: 1')
  await gone
  expect(await ask(await open(started.server))).toContain('200 OK')
})

test('a connection on which no request comes is closed, and so is one on which it stays half', async () => {
  await using started = await start({ headersMs: 100, requestMs: 200, checkMs: 50 })
  const [silent, halfHead, halfBody] = [
    await open(started.server),
    await open(started.server),
    await open(started.server),
  ]
  halfHead.write('GET / HTTP/1.1\r\nHost: loc')
  halfBody.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf')
  const [, head] = await Promise.all([readAll(silent), readAll(halfHead), readAll(halfBody)])
  expect(parse(head)).toMatchObject({ status: 408, type: 'error:RequestTimeout' })
})

test('an address or headers that are too long, and what is no HTTP, are refused in words', async () => {
  await using started = await start({})
  const long = await fetch(`${started.url}/?${'q'.repeat(20_000)}`)
  expect([long.status, await long.json()]).toMatchObject([
    431,
    { type: 'error:RequestHeaderFieldsTooLarge', status: 431 },
  ])
  const header = await fetch(started.url, { headers: { 'x-long': 'x'.repeat(20_000) } })
  expect(header.status).toBe(431)
  const nonsense = await open(started.server)
  const answer = readAll(nonsense)
  nonsense.write('nonsense\r\n\r\n')
  expect(parse(await answer)).toMatchObject({ status: 400, type: 'BadRequest' })
})

test('nothing stands behind half an answer', async () => {
  await using started = await start({}, (_request, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('half')
  })
  const socket = await open(started.server)
  socket.once('data', () => socket.write('nonsense\r\n\r\n'))
  const answer = readAll(socket)
  socket.write(request)
  expect(await answer).toMatch(/half$/)
})

test('whoever does not take an answer that is ready is cut off', async () => {
  // More than the buffers on the way hold.
  const large = Buffer.alloc(32_000_000)
  await using slow = await start({ drainMs: 100, checkMs: 20 }, (_request, response) => response.end(large))
  await using stalled = await start({ stallMs: 100 }, (_request, response) => response.end(large))
  for (const { server } of [slow, stalled]) {
    const gone = once(server, 'request').then(([, response]) =>
      once(response as NodeJS.EventEmitter, 'close'),
    )
    const socket = await open(server)
    socket.pause()
    socket.write(request)
    await gone
    socket.destroy()
  }
})

test('a connection that asks without end before it is answered is closed', async () => {
  await using started = await start({}, () => undefined)
  const socket = await open(started.server)
  const answer = readAll(socket)
  socket.write(request.repeat(101))
  expect(await answer).toBe('')
})

test('whoever goes away is not answered any more, also not what was asked behind something else', async () => {
  const ended: string[] = []
  let onEnd = () => {}
  const all = new Promise<void>((resolve) => (onEnd = resolve))
  let asked = 0
  await using started = await start({}, ({ url }, response) => {
    response.once('close', () => ended.push(url!) === 3 && onEnd())
    // What is ready behind something else waits as well.
    if (url === '/ready') response.end('here')
    if (++asked === 3) socket.destroy()
  })
  const socket = await open(started.server)
  socket.write(['/slow', '/ready', '/slow-too'].map((path) => request.replace('/', path)).join(''))
  await all
  expect(ended.toSorted()).toEqual(['/ready', '/slow', '/slow-too'])
})
