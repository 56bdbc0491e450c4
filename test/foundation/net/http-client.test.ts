import { EventEmitter, once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import { inspect } from 'node:util'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { ConnectionOptions, Lookup } from '../../../src/foundation/net/connector.ts'
import { createHttpClient } from '../../../src/foundation/net/http-client.ts'
import { startServer } from '../../support/server.ts'
import { always, openClient } from './_connections.ts'

const timeoutMs = 5_000
const json = { timeoutMs, maxBytes: 10_000 }
const emptyJson = { headers: { 'content-type': 'application/json' }, body: '{}', timeoutMs }

const open = (options: Partial<ConnectionOptions> = {}) => openClient({ allow: 'loopback', ...options })

/** The error of a request, which does not repeat the text of the server. */
async function failure(work: Promise<unknown>): Promise<unknown> {
  const error = await work.catch((reason: unknown) => reason)
  expect(inspect(error)).not.toContain('secret')
  return error
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

test.each(['a\nb', 'a\u0000', 'ü€'])(
  'a request with the header %j cannot be sent, now or later',
  async (value) => {
    await using server = await startServer((_, response) => response.end())
    const request = { method: 'GET', headers: { authorization: value }, timeoutMs, maxBytes: 10 } as const
    expect(await failure(open().exchange(server.url, request))).toMatchObject({ code: 'bad-request' })
  },
)

test('a challenge for each scheme is kept as one list', async () => {
  await using server = await startServer((_, response) =>
    response
      .writeHead(401, { 'www-authenticate': ['Bearer', 'DPoP error="a"'], 'dpop-nonce': ['b', 'c'] })
      .end(),
  )
  const keptHeaders = ['www-authenticate', 'dpop-nonce']
  const request = { method: 'GET', headers: {}, timeoutMs, maxBytes: 10, keptHeaders } as const
  const { headers } = await open().exchange(server.url, request)
  expect(headers).toMatchObject({ 'www-authenticate': 'Bearer, DPoP error="a"' })
})

describe('a JSON document', () => {
  test('is read from an allowed server', async () => {
    await using server = await startServer((request, response) =>
      response.end(JSON.stringify({ accept: request.headers.accept })),
    )
    expect(
      await open().getJson(`${server.url}/a?b=c`, {
        ...json,
        accept: 'application/x',
      }),
    ).toEqual({ accept: 'application/x' })
  })

  test.each([404, 500, 201, 204, 304])(
    'with status %i is an error that does not repeat the body',
    async (status) => {
      await using server = await startServer((_, response) =>
        response.writeHead(status).end('internal secret'),
      )
      expect(await failure(open().getJson(server.url, json))).toMatchObject({
        name: 'UnreachableError',
        code: 'bad-status',
      })
    },
  )

  test.each([Buffer.from('internal secret'), Buffer.from([0x22, 0xff, 0x22]), Buffer.from('')])(
    'that is invalid is an error that does not repeat it',
    async (body) => {
      await using server = await startServer((_, response) => response.end(body))
      expect(await failure(open().getJson(server.url, json))).toMatchObject({ code: 'not-json' })
    },
  )

  test('from a server that does not speak HTTP is an error that does not repeat the bytes', async () => {
    await using server = await startServer((request) => request.socket.end('SSH-2.0-secret\r\n'))
    expect(await failure(open().getJson(server.url, json))).toMatchObject({ code: 'refused' })
  })

  test('of exactly the limit is read, and one byte more is an error', async () => {
    await using server = await startServer((_, response) => response.end(JSON.stringify('x'.repeat(98))))
    const http = open()
    expect(await http.getJson(server.url, { timeoutMs, maxBytes: 100 })).toHaveLength(98)
    await expect(http.getJson(server.url, { timeoutMs, maxBytes: 99 })).rejects.toMatchObject({
      code: 'too-large',
    })
  })

  test('of a gigabyte is aborted', async () => {
    let sent = 0
    const connection = new EventEmitter()
    const closed = once(connection, 'closed')
    await using server = await startServer((_, response) => {
      const chunk = Buffer.alloc(65_536, 0x20)
      const more = () => {
        while (sent < 2 ** 30) {
          sent += chunk.length
          if (!response.write(chunk)) return
        }
        response.end()
      }
      response.on('drain', more).on('close', () => connection.emit('closed'))
      more()
    })
    await expect(open().getJson(server.url, json)).rejects.toMatchObject({
      code: 'too-large',
    })
    await closed
    expect(sent).toBeLessThan(2 ** 25)
  })

  test('that arrives a byte at a time is aborted', async () => {
    await using server = await startServer((_, response) => {
      const timer = setInterval(() => response.write(' '), 10)
      response.on('close', () => clearInterval(timer))
    })
    await expect(open().getJson(server.url, { timeoutMs: 100, maxBytes: 10_000 })).rejects.toMatchObject({
      code: 'timeout',
    })
  })
})

describe('a compressed response', () => {
  const text = JSON.stringify('ä'.repeat(4_000))
  const plainly = (plain: string) => Buffer.from(plain)
  const sent = (coding: string, body: Buffer): RequestListener => {
    return (_, response) => response.writeHead(200, { 'content-encoding': coding }).end(body)
  }
  const get = { method: 'GET' as const, headers: {}, timeoutMs, maxBytes: 10_000 }

  test('is asked for', async () => {
    await using server = await startServer(({ headers }, response) =>
      response.end(JSON.stringify(headers['accept-encoding'])),
    )
    expect(await open().getJson(server.url, json)).toBe('gzip, deflate, br')
    expect((await open().exchange(server.url, get)).text).toBe('"gzip, deflate, br"')
  })

  test.each<[string, (text: string) => Buffer]>([
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['identity, gzip', gzipSync],
    // Not a coding, but sent by some servers.
    ['utf-8', plainly],
    ['identity', plainly],
  ])('with %s is read', async (coding, compress) => {
    await using server = await startServer(sent(coding, compress(text)))
    expect(await open().getJson(server.url, json)).toHaveLength(4_000)
    expect((await open().exchange(server.url, get)).text).toBe(text)
    const bytes = await open().exchange(server.url, { ...get, encoding: 'base64' })
    expect(bytes.text).toBe(Buffer.from(text).toString('base64'))
  })

  test('without a body is empty', async () => {
    await using server = await startServer(sent('gzip', Buffer.alloc(0)))
    expect((await open().exchange(server.url, get)).text).toBe('')
  })

  test.each<[string, (text: string) => Buffer]>([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ])('of exactly the limit is read, and one byte more is an error: %s', async (coding, compress) => {
    const read = async (size: number) => {
      await using server = await startServer(sent(coding, compress('x'.repeat(size))))
      return (await open().exchange(server.url, get)).text.length
    }
    expect(await read(10_000)).toBe(10_000)
    await expect(read(10_001)).rejects.toMatchObject({ code: 'too-large' })
    await expect(read(2 ** 22)).rejects.toMatchObject({ code: 'too-large' })
  })

  test.each([
    ['bad-encoding', 'gzip', Buffer.from('internal secret')],
    ['bad-encoding', 'br', Buffer.from('internal secret')],
    ['bad-encoding', 'deflate', Buffer.from('internal secret')],
    ['bad-encoding', 'gzip', gzipSync(text).subarray(0, 20)],
    ['bad-encoding', 'gzip, br', brotliCompressSync(gzipSync(text))],
    ['not-text', 'zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
    ['not-text', 'secret', Buffer.from([0xff])],
  ])('fails with %s for %s', async (code, coding, body) => {
    await using server = await startServer(sent(coding, body))
    expect(await failure(open().exchange(server.url, get))).toMatchObject({ code })
  })

  const unsupported = 'that is not supported here'
  test.each([
    ['not-text', 'zstd', Buffer.from([0xff]), unsupported],
    ['not-json', 'zstd', Buffer.from('secret'), unsupported],
    ['not-text', 'gzip', gzipSync(Buffer.from([0xff])), 'is not text in UTF-8'],
    ['not-json', 'br', brotliCompressSync('secret'), 'is not JSON'],
    ['not-json', 'identity', Buffer.from('secret'), 'is not JSON'],
    ['bad-encoding', 'gzip', Buffer.from('secret'), 'is not gzip, as its Content-Encoding says'],
  ])('that is %s in %s is told apart from one in an unknown coding', async (code, coding, body, reason) => {
    await using server = await startServer(sent(coding, body))
    const read = code === 'not-text' ? open().exchange(server.url, get) : open().getJson(server.url, json)
    const message = expect.stringMatching(new RegExp(`${reason}$`))
    expect(await failure(read)).toMatchObject({ code, message })
  })
})

describe('an exchange', () => {
  const post = {
    method: 'POST' as const,
    headers: { 'content-type': 'application/json' },
    timeoutMs,
    maxBytes: 10_000,
  }
  const date = 'Sun, 22 Nov 2026 02:36:10 GMT'

  test.each([200, 302, 404, 503])('returns status %i with the body and its time', async (status) => {
    await using server = await startServer(async (request, response) =>
      response
        .writeHead(status, { location: '/elsewhere', date })
        .end(`${request.method} ${await bodyOf(request)}`),
    )
    const http = open()
    const posted = await http.exchange(server.url, { ...post, body: 'ä' })
    expect(posted).toEqual({ status, text: 'POST ä', date })
    const got = await http.exchange(server.url, { ...post, method: 'GET' })
    expect(got).toEqual({ status, text: 'GET ', date })
  })

  test.each<[string, RequestListener, object]>([
    ['too-large', (_, response) => response.end('x'.repeat(10_001)), {}],
    ['not-text', (_, response) => response.end(Buffer.from([0xff])), {}],
    ['timeout', () => undefined, { timeoutMs: 50 }],
    ['timeout', (_, response) => response.writeHead(200).write('x'), { timeoutMs: 50 }],
    ['refused', (request) => request.socket.destroy(), {}],
  ])('fails with %s', async (code, listener, options) => {
    await using server = await startServer(listener)
    await expect(open().exchange(server.url, { ...post, body: '{}', ...options })).rejects.toMatchObject({
      code,
    })
  })

  test('reaches allowed addresses only', async () => {
    await using server = await startServer(() => expect.unreachable())
    await expect(openClient({ allow: 'public' }).exchange(server.url, post)).rejects.toMatchObject({
      code: 'address-not-allowed',
    })
  })
})

describe('a post', () => {
  test('sends the whole body and returns the status', async () => {
    await using server = await startServer(async (request, response) => {
      const { method, url, headers } = request
      const received = [method, url, headers['x-key'], await bodyOf(request)]
      response.writeHead(received.join() === 'POST,/p?q=1,k,{"a":1}' ? 202 : 400).end()
    })
    const sent = await open().post(`${server.url}/p?q=1#f`, {
      headers: { 'x-key': 'k' },
      body: Buffer.from('{"a":1}'),
      timeoutMs,
    })
    expect(sent).toEqual({ status: 202 })
  })

  test('follows no redirect', async () => {
    await using target = await startServer((_, response) => response.end())
    await using server = await startServer((_, response) =>
      response.writeHead(307, { location: target.url }).end(),
    )
    expect(await open().post(server.url, emptyJson)).toEqual({ status: 307 })
    expect(target.connections()).toBe(0)
  })

  test('succeeds when the status arrives, even if the response never ends', async () => {
    await using server = await startServer((_, response) => response.write('x'))
    expect(await open().post(server.url, emptyJson)).toEqual({ status: 200 })
  })

  test('succeeds when the status arrives, and aborts a long response', async () => {
    const connection = new EventEmitter()
    const closed = once(connection, 'closed')
    await using server = await startServer((_, response) => {
      const more = () => void (response.write(Buffer.alloc(65_536)) && setImmediate(more))
      response.on('drain', more).on('close', () => connection.emit('closed'))
      more()
    })
    expect(await open().post(server.url, emptyJson)).toEqual({ status: 200 })
    await closed
  })

  test('fails when no status arrives in time, also while it waits for a connection', async () => {
    await using server = await startServer(() => undefined)
    const http = open({ connections: 1 })
    const failures = await Promise.allSettled(
      [1, 2, 3].map(() => http.post(server.url, { ...emptyJson, timeoutMs: 100 })),
    )
    expect(failures.map((result) => result.status === 'rejected' && result.reason.code)).toEqual([
      'timeout',
      'timeout',
      'timeout',
    ])
  })

  test('that is aborted while it waits for a connection is not sent later', async () => {
    const paths: (string | undefined)[] = []
    const isFree = new EventEmitter()
    await using server = await startServer(({ url }, response) => {
      paths.push(url)
      if (url !== '/first') return response.end()
      isFree.once('now', () => response.end())
      return isFree.emit('soon')
    })
    const http = open({ connections: 1 })
    const isTaken = once(isFree, 'soon')
    const first = http.post(`${server.url}/first`, emptyJson)
    await isTaken
    await expect(http.post(`${server.url}/second`, { ...emptyJson, timeoutMs: 50 })).rejects.toMatchObject({
      code: 'timeout',
    })
    isFree.emit('now')
    expect((await first).status).toBe(200)
    expect((await http.post(`${server.url}/third`, emptyJson)).status).toBe(200)
    expect(paths).toEqual(['/first', '/third'])
  })

  test('with a header that contains a line break is not sent', async () => {
    await using server = await startServer((_, response) => response.end())
    const sent = open().post(server.url, {
      ...emptyJson,
      headers: { 'x-key': 'a\r\nx-admin: yes' },
    })
    await expect(sent).rejects.toMatchObject({ name: 'UnreachableError' })
    expect(server.connections()).toBe(0)
  })

  test('to a closed port fails', async () => {
    const server = await startServer(() => undefined)
    await server[Symbol.asyncDispose]()
    await expect(open().post(server.url, emptyJson)).rejects.toMatchObject({
      code: 'refused',
    })
  })

  test('to a name that does not resolve fails', async () => {
    const lookup: Lookup = () =>
      Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
    await expect(
      openClient({ allow: 'any', lookup }).post('http://nowhere.example', emptyJson),
    ).rejects.toMatchObject({ code: 'no-such-host' })
  })
})

describe('connections', () => {
  test('are reused', async () => {
    await using server = await startServer((_, response) => response.end('thanks'))
    const http = open()
    for (let i = 0; i < 20; i++) await http.post(server.url, emptyJson)
    // Undici may open a second one after a response is read, before its connection is free.
    expect(server.connections()).toBeLessThanOrEqual(2)
  })

  test('to one server stay below the limit', async () => {
    await using server = await startServer((_, response) => setTimeout(() => response.end(), 5))
    const http = open({ connections: 3 })
    await Promise.all(Array.from({ length: 30 }, () => http.post(server.url, emptyJson)))
    expect(server.peak()).toBe(3)
  })

  test('end with the client, as do running requests', async () => {
    const http = createHttpClient({ allow: 'loopback' })
    await using server = await startServer(() => void http.close())
    await expect(http.post(server.url, emptyJson)).rejects.toMatchObject({ code: 'refused' })
    await expect(http.post(server.url, emptyJson)).rejects.toMatchObject({ code: 'refused' })
  })
})

describe('a redirect', () => {
  test('is not followed unless asked for', async () => {
    await using server = await startServer((_, response) => response.writeHead(302, { location: '/b' }).end())
    await expect(open().getJson(server.url, json)).rejects.toMatchObject({
      code: 'redirect',
    })
  })

  test('is followed as often as allowed and not once more', async () => {
    await using server = await startServer((request, response) => {
      const left = Number(request.url!.slice(1))
      if (left === 0) response.end('"here"')
      else response.writeHead(302, { location: `/${left - 1}` }).end('moved')
    })
    const http = open()
    expect(await http.getJson(`${server.url}/3`, { ...json, maxRedirects: 3 })).toBe('here')
    await expect(http.getJson(`${server.url}/4`, { ...json, maxRedirects: 3 })).rejects.toMatchObject({
      code: 'redirect',
    })
  })

  test.each([
    ['http://10.0.0.1/', 'address-not-allowed'],
    ['http://[::ffff:a9fe:a9fe]/latest/meta-data/', 'address-not-allowed'],
    ['http://internal.example/', 'address-not-allowed'],
    ['//169.254.169.254/', 'address-not-allowed'],
    ['file:///etc/passwd', 'bad-url'],
    ['gopher://127.0.0.1/', 'bad-url'],
    ['data:application/json,1', 'bad-url'],
    ['http://user:pass@127.0.0.1/', 'bad-url'],
    ['http://', 'bad-url'],
  ])('to %s after two harmless ones is refused', async (target, code) => {
    await using server = await startServer((request, response) => {
      const location = { '/': '/a', '/a': '/b', '/b': target }[request.url!]!
      response.writeHead(301, { location }).end()
    })
    const http = open({ lookup: always('10.1.2.3') })
    await expect(http.getJson(server.url, { ...json, maxRedirects: 5 })).rejects.toMatchObject({ code })
  })
})
