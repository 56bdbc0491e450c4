/**
 * An agent at 127.0.0.1 behind a reverse proxy is on the Internet: no address that a peer or a tenant names
 * leads to services of this machine.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { loopbacks } from './_corpus.ts'
import { deploy, publicSettings, type Deployment } from './_deployment.ts'
import { startServer } from '../../support/server.ts'
import { openCanary } from './_connections.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

/** An address of this machine that acts as a public one: the operator allows it. */
const publicLoopback = '127.77.0.2'

const names = [
  'a did:web that any client resolves',
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

/** Number of concurrent attempts. */
const concurrency = 8

let proxied: Deployment
let local: Deployment
beforeAll(async () => {
  proxied = await deploy({ ...publicSettings, AGENT_ALLOW_HOSTS: publicLoopback }, { isProxied: true })
  local = await deploy({}, { isProxied: false })
})
afterAll(async () => {
  await proxied[Symbol.asyncDispose]()
  await local[Symbol.asyncDispose]()
})

test('every request is covered', () => expect(Object.keys(proxied.sites)).toEqual(names))

test.each(names)(
  '%s does not reach this machine, by 54 spellings of its address and by a redirect',
  async (name) => {
    const canary = await openCanary()
    let isControlled = false
    await using other = await startServer(({ url }, response) => {
      if (url!.startsWith('/control')) isControlled = true
      response.writeHead(307, { location: `http://127.0.0.1:${canary.port}/` }).end()
    }, publicLoopback)
    const urls = loopbacks(canary.port)
    urls.push(`http://${publicLoopback}:${other.port}/redirect/`)
    expect(urls).toHaveLength(54)
    for (let index = 0; index < urls.length; index += concurrency)
      await Promise.allSettled(urls.slice(index, index + concurrency).map((url) => proxied.sites[name]!(url)))
    // Some requests run in the background. When the request to the allowed address arrives, the earlier ones
    // have ended. A did:web with an IP address is refused at once.
    if (!name.includes('did:web')) {
      await proxied.sites[name]!(`http://${publicLoopback}:${other.port}/control/`).catch(() => undefined)
      await expect.poll(() => isControlled).toBe(true)
    }
    expect(canary.connections()).toBe(0)
  },
)

test.each(names)(
  '%s reaches the same server with the default settings, so the test above can fail',
  async (name) => {
    const canary = await openCanary()
    await local.sites[name]!(`http://127.0.0.1:${canary.port}/`).catch(() => undefined)
    await expect.poll(() => canary.connections()).toBeGreaterThan(0)
  },
)
