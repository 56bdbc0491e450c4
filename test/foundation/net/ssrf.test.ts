/**
 * No URL that a tenant or a peer names leads to this machine or into a private network: the whole corpus for
 * every request.
 */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Lookup } from '../../../src/foundation/net/connector.ts'
import { createHttpClient, type HttpClient } from '../../../src/foundation/net/http-client.ts'
import type { Limits } from '../../../src/foundation/net/policy.ts'
import { callLimitsOf } from '../../../src/foundation/net/reach.ts'
import { UnreachableError } from '../../../src/foundation/net/unreachable-error.ts'
import { startAgent, type TestAgent } from '../../support/agent.ts'
import { corpus, hostile } from './_corpus.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { openCanary } from './_connections.ts'
import { guardedFiles, openSites, type SiteRequest } from './_sites.ts'

/** Number of concurrent requests: below the limit per server. */
const concurrency = 8

/** The URLs of the corpus that are registered as webhooks of a tenant who then has an event. */
const share = 8

/** An address of this machine that acts as a public one: the operator allows it. */
const publicLoopback = '127.77.0.2'

vi.setConfig({ testTimeout: 20_000 })

let agent: TestAgent
let sites: Record<string, SiteRequest>
beforeAll(async () => {
  agent = await startAgent({
    AGENT_HOST: '0.0.0.0',
    WEBHOOKS_PER_WALLET: '10000',
    DID_CACHE_LIFETIME: '0',
    AGENT_ALLOW_HOSTS: `${publicLoopback}/32`,
  })
  sites = await openSites(agent)
})
afterAll(() => agent[Symbol.asyncDispose]())

const names = Object.values(guardedFiles).flat()

/** Replaces the agent's name server and records the results of its client. */
function recordClient(lookup: Lookup, limits: Limits = callLimitsOf(agent.agent.config)) {
  const client = createHttpClient({ ...limits, lookup })
  const answers: { url: string; code: string }[] = []
  const waiting = new Set<Promise<unknown>>()
  const noting =
    <A extends [url: string, ...rest: unknown[]], T>(ask: (...given: A) => Promise<T>) =>
    (...given: A): Promise<T> => {
      const answer = ask(...given)
      const noted = answer.then(
        () => answers.push({ url: given[0], code: 'got through' }),
        (error: unknown) =>
          answers.push({
            url: given[0],
            code: error instanceof UnreachableError ? error.code : String(error),
          }),
      )
      waiting.add(noted.finally(() => waiting.delete(noted)))
      return answer
    }
  const changed: HttpClient = {
    post: noting((...given: Parameters<HttpClient['post']>) => client.post(...given)),
    exchange: noting((...given: Parameters<HttpClient['exchange']>) => client.exchange(...given)),
    getJson: noting((...given: Parameters<HttpClient['getJson']>) => client.getJson(...given)),
    close: () => client.close(),
  }
  Object.assign(agent.agent.env.http, changed)
  onTestFinished(() => client.close())
  /** Triggers a request to a URL and waits for background requests. */
  const request = async (name: string, url: string) => {
    await Promise.resolve()
      .then(() => sites[name]!(url))
      .catch(() => undefined)
    await Promise.all(waiting)
  }
  return { answers, request }
}

test('every request is covered', () => expect(Object.keys(sites).toSorted()).toEqual(names.toSorted()))

describe.each(names)('%s', (name) => {
  test('reaches no address of the corpus', async () => {
    const canary = await openCanary()
    const urls = corpus(canary.port)
    expect(urls.length).toBeGreaterThan(200)
    const { answers, request } = recordClient(hostile)
    for (let index = 0; index < urls.length; index += concurrency) {
      await Promise.all(urls.slice(index, index + concurrency).map((url) => request(name, url)))
    }
    expect(
      answers.filter(({ code }) => !['address-not-allowed', 'bad-url', 'port-not-allowed'].includes(code)),
    ).toEqual([])
    // A did:web with an IP address is refused by its text. All other URLs reach the guard, except for invalid
    // ones.
    expect(answers.length).toBeGreaterThan(name === 'did:web' ? 30 : 150)
    expect(canary.connections()).toBe(0)
  })

  test('follows no redirect to this machine', async () => {
    const canary = await openCanary()
    const urls = corpus(canary.port)
    const statuses = [301, 302, 303, 307, 308]
    await using other = await startServer((request, response) => {
      const [, kind, index] = /^\/(far|near)(\d+)/.exec(request.url!) ?? []
      // A location that is not absolute leads to this server.
      if (index === undefined) return void response.writeHead(404).end()
      const location =
        kind === 'far' ? `/near${index}` : urls[Number(index)]!.replace(/[^\x20-\x7e]/gu, encodeURIComponent)
      response.writeHead(statuses[Number(index) % 5]!, { location }).end()
    }, publicLoopback)
    const { request, answers } = recordClient(async (host) =>
      host === 'elsewhere.example' ? [{ address: publicLoopback, family: 4 }] : hostile(host),
    )
    // Only schemas follow redirects.
    for (let index = 0; index < urls.length; index += name.startsWith('schema') ? 1 : 10) {
      // The second is a redirect after a harmless one.
      const path = index % 2 === 0 ? 'far' : 'near'
      await request(
        name,
        `${name === 'did:web' ? 'https' : 'http'}://elsewhere.example:${other.port}/${path}${index}`,
      )
    }
    expect(answers.length).toBeGreaterThan(0)
    expect(other.connections()).toBeGreaterThan(0)
    expect(canary.connections()).toBe(0)
  })

  test('is not fooled by a name that resolves differently the second time', async () => {
    const [canary, other] = await openTwins()
    const asked = new Map<string, number>()
    const { request, answers } = recordClient(async (host) => {
      const count = (asked.get(host) ?? 0) + 1
      asked.set(host, count)
      return [{ address: count === 1 ? publicLoopback : '127.0.0.1', family: 4 }]
    })
    const url = `http://rebind-${names.indexOf(name)}.example:${canary.port}/`
    await request(name, url)
    const before = answers.length
    for (let again = 0; again < 5; again++) await request(name, `${url}${again}`)
    expect(other.connections()).toBe(1)
    expect(new Set(answers.slice(before).map(({ code }) => code))).toEqual(new Set(['address-not-allowed']))
    expect(canary.connections()).toBe(0)
  })

  test('reaches the same canary without the guard, so the tests above can fail', async () => {
    const canary = await openCanary()
    const { request } = recordClient(hostile, { allow: 'any' })
    await request(name, `http://control-${names.indexOf(name)}.example:${canary.port}/`)
    expect(canary.connections()).toBeGreaterThan(0)
  })
})

test('no event is sent to a webhook of the corpus', async () => {
  const canary = await openCanary()
  const { answers } = recordClient(hostile)
  const registered = new Set<string>()
  const tenant = await agent.newTenant()
  for (const [index, url] of corpus(canary.port).entries()) {
    if (index % share !== 0) continue
    const made = await tenant.call('POST /events/webhooks', { body: { url } }).catch(() => undefined)
    if (made) registered.add(made.url)
  }
  expect(registered.size).toBeGreaterThan(20)
  await tenant.call('POST /connections', { body: {} })
  await expect.poll(() => new Set(answers.map(({ url }) => url)).size).toBe(registered.size)
  expect(new Set(answers.map(({ code }) => code))).toEqual(
    new Set(['address-not-allowed', 'port-not-allowed']),
  )
  expect(canary.connections()).toBe(0)
})

/**
 * Starts a canary on this machine, and a server with the same port on the address that acts as public.
 * Neither keeps connections open.
 */
async function openTwins(): Promise<[TestServer, TestServer]> {
  const listener: RequestListener = (_, response) => response.setHeader('connection', 'close').end('{}')
  const canary = await startServer(listener)
  onTestFinished(() => canary[Symbol.asyncDispose]())
  let connections = 0
  const twin = createServer(listener).on('connection', () => connections++)
  await new Promise<void>((resolve, reject) =>
    twin.once('error', reject).listen(canary.port, publicLoopback, resolve),
  )
  const close = () => new Promise<void>((resolve) => void twin.close(() => resolve()))
  onTestFinished(close)
  const { port } = twin.address() as AddressInfo
  return [
    canary,
    {
      port,
      url: `http://${publicLoopback}:${port}`,
      connections: () => connections,
      peak: () => 0,
      cut: () => undefined,
      [Symbol.asyncDispose]: close,
    },
  ]
}
