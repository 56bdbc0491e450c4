/** An agent at 127.0.0.1 behind a reverse proxy is on the Internet: no address that a stranger or a tenant names leads to this machine's own services. */
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import type { RequestListener } from 'node:http'
import { loopbacks } from './_corpus.ts'
import { deploy, publicSettings, type Deployment } from './_deployment.ts'
import { startServer, type TestServer } from './_server.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

/** An address of this machine that stands for a public one: the operator lists it. */
const elsewhere = '127.77.0.2'

const names = [
  'a did:web that anybody asks for',
  'the did:web of an issuer',
  'the schema in an offer',
  'the schema of a credential',
  'a schema to check',
  'a status list',
  'an answer to a DID request',
  'an answer to a challenge',
  'a webhook',
  'a ping of a tenant',
  'a ping of a stranger',
  'an invitation that is accepted',
]

/** Attempts that are made at a time. */
const together = 8

let proxied: Deployment
let local: Deployment
beforeAll(async () => {
  proxied = await deploy({ ...publicSettings, AGENT_ALLOW_HOSTS: elsewhere }, { isProxied: true })
  local = await deploy({}, { isProxied: false })
})
afterAll(async () => {
  await proxied[Symbol.asyncDispose]()
  await local[Symbol.asyncDispose]()
})

/** A service of this machine that notes every connection. */
async function openCanary(): Promise<TestServer> {
  const listener: RequestListener = (_, response) => response.end('{}')
  const canary = await startServer(listener, '::').catch(() => startServer(listener, '0.0.0.0'))
  onTestFinished(() => canary[Symbol.asyncDispose]())
  return canary
}

test('every place is tried', () => expect(Object.keys(proxied.sites)).toEqual(names))

test.each(names)(
  '%s leads to no service of this machine, in 54 spellings of it and by a redirect',
  async (name) => {
    const canary = await openCanary()
    let isControlled = false
    await using other = await startServer(({ url }, response) => {
      if (url!.startsWith('/control')) isControlled = true
      response.writeHead(307, { location: `http://127.0.0.1:${canary.port}/` }).end()
    }, elsewhere)
    const urls = loopbacks(canary.port)
    urls.push(`http://${elsewhere}:${other.port}/redirect/`)
    expect(urls).toHaveLength(54)
    for (let index = 0; index < urls.length; index += together)
      await Promise.allSettled(urls.slice(index, index + together).map((url) => proxied.sites[name]!(url)))
    // Some of them are called in the background: by the time that an address which may be called has been, the others have had their turn.
    // A did:web at an address is refused for that, and at once.
    if (!name.includes('did:web')) {
      await proxied.sites[name]!(`http://${elsewhere}:${other.port}/control/`).catch(() => undefined)
      await expect.poll(() => isControlled, { timeout: 10_000 }).toBe(true)
    }
    expect(canary.connections()).toBe(0)
  },
)

test.each(names)(
  '%s leads to the same service with the defaults, so the test above can fail',
  async (name) => {
    const canary = await openCanary()
    await local.sites[name]!(`http://127.0.0.1:${canary.port}/`).catch(() => undefined)
    await expect.poll(() => canary.connections(), { timeout: 10_000 }).toBeGreaterThan(0)
  },
)
