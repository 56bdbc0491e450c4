/** The typed client, against a real daemon and against other servers. */
import type { RequestListener } from 'node:http'
import { expect, test } from 'vitest'
import { createClient, DaemonUnreachable, ProblemError } from '../../daemon/client/client.ts'
import { adminToken, startAgent } from '../support/agent.ts'
import { built } from '../support/built.ts'
import { untilEnd } from '../support/shared.ts'

const { bind, serve, stop, urlOf } = built

const agent = await untilEnd(startAgent({ DEFAULT_WALLET_ENABLED: 'false' }))

/** Runs `use` with the URL of a server that is not the agent. */
async function withServer(listener: RequestListener, use: (url: string) => Promise<void>): Promise<void> {
  const server = await bind('127.0.0.1', 0, '')
  serve(server, listener)
  try {
    await use(urlOf(server, '127.0.0.1'))
  } finally {
    server.closeAllConnections()
    await stop(server)
  }
}

test('path, query and body are sent, and the reply is returned', async () => {
  const wallet = await agent.admin('POST /wallets', { body: { name: 'one' } })
  expect(await agent.admin('GET /wallets/{walletId}', { path: { walletId: wallet.id } })).toEqual(wallet)
  await agent.admin('POST /wallets', { body: { name: 'two', seed: null } })
  const { contents, next } = await agent.admin('GET /wallets', { query: { limit: 1, offset: undefined } })
  expect([contents, next]).toEqual([[wallet], '/wallets?limit=1&offset=1'])
})

test('a response without a body is undefined', async () => {
  const { entityId } = await agent.newTenant()
  expect(await agent.admin('DELETE /iam/entities/{id}', { path: { id: entityId } })).toBeUndefined()
})

test('a base URL may end in a slash and have a path', async () => {
  const call = createClient(`${agent.url}/cloud-agent/`, { 'x-admin-api-key': adminToken })
  expect((await call('GET /wallets')).self).toBe('/cloud-agent/wallets')
})

test('a problem is thrown with its body', async () => {
  const failure = await agent
    .admin('POST /iam/entities', { body: { name: '' } })
    .catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(ProblemError)
  const { problem, message } = failure as ProblemError
  expect(problem).toMatchObject({
    status: 400,
    type: 'error:RequestBodyDecodingFailure',
    title: 'Request Body Decoding Failure',
    instance: expect.stringMatching(/^error:instance:/),
  })
  expect(message).toBe(problem.detail)
})

test('names in a path are encoded', async () => {
  await expect(
    agent.admin('GET /wallets/{walletId}', { path: { walletId: '../iam/entities' } }),
  ).rejects.toMatchObject({
    problem: { type: 'error:ResourcePathNotFound' },
  })
})

test('an unreachable address is DaemonUnreachable and is named', async () => {
  const server = await bind('127.0.0.1', 0, '')
  const url = urlOf(server, '127.0.0.1')
  await stop(server)
  const failure = await createClient(url)('GET /_system/health').catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(DaemonUnreachable)
  expect(failure).toMatchObject({
    url,
    message: expect.stringContaining(url),
    cause: { code: 'ECONNREFUSED' },
  })
})

test('an aborted or missing response is DaemonUnreachable', async () => {
  const half: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 })
    response.write('{"version"', () => response.destroy())
  }
  await withServer(half, (url) =>
    expect(createClient(url)('GET /_system/health')).rejects.toBeInstanceOf(DaemonUnreachable),
  )
  const silent: RequestListener = () => undefined
  const stuck: RequestListener = (_request, response) => response.writeHead(200).write('{')
  for (const listener of [silent, stuck])
    await withServer(listener, async (url) => {
      const failure = await createClient(
        url,
        {},
        { timeoutMs: 50 },
      )('GET /_system/health').catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(DaemonUnreachable)
      expect(failure).toMatchObject({ cause: { name: 'TimeoutError' } })
    })
})

test('an error of a proxy is a problem too', async () => {
  const proxy: RequestListener = (_request, response) =>
    response.writeHead(502, 'Bad Gateway', { 'content-type': 'text/html' }).end('<h1>502</h1>')
  await withServer(proxy, (url) =>
    expect(createClient(url)('GET /_system/health')).rejects.toMatchObject({
      problem: { status: 502, type: 'about:blank', title: 'Bad Gateway' },
    }),
  )
  await withServer(
    (_request, response) => response.writeHead(503, { 'content-type': 'application/json' }).end('null'),
    (url) =>
      expect(createClient(url)('GET /_system/health')).rejects.toMatchObject({ problem: { status: 503 } }),
  )
  await withServer(
    (_request, response) => response.writeHead(500, { 'content-type': 'application/json' }).end('{"cut'),
    (url) =>
      expect(createClient(url)('GET /_system/health')).rejects.toMatchObject({ problem: { status: 500 } }),
  )
})
