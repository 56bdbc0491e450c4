/** `GET /dids/{didRef}`: every representation, every status, and arbitrary paths. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { request } from 'node:http'
import type { RequestListener } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { createPeerDid } from '../../../src/did/peer.ts'
import { toLongForm, toShortForm } from '../../../src/did/prism/did.ts'
import { sharedAgent, startAgent, type TestAgent } from '../../support/agent.ts'
import { character } from '../../support/character.ts'
import { createBytes, published, signedCreate, signedDeactivate } from '../../did/prism/_make.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { createJwkDid } from '../../../src/did/jwk.ts'
import { createKeyDid } from '../../../src/did/key.ts'

const result = 'application/ld+json; profile=https://w3id.org/did-resolution'
const longForm = toLongForm(createBytes())
const key = createKeyDid(generateKey('Ed25519'))
const peer = createPeerDid({
  keyAgreement: toPublic(generateKey('X25519')),
  authentication: toPublic(generateKey('Ed25519')),
  serviceUri: 'https://a.example',
})

let agent: TestAgent
let host: TestServer
let answer: RequestListener
const webDid = () => `did:web:localhost%3A${host.port}`

beforeAll(async () => {
  host = await startServer((incoming, response) => answer(incoming, response))
  agent = await startAgent({ DID_CACHE_LIFETIME: '0', DID_RESOLUTIONS_PER_MINUTE: '100000' })
})
afterAll(async () => {
  await agent[Symbol.asyncDispose]()
  await host[Symbol.asyncDispose]()
})

async function get(did: string, accept?: string) {
  const response = await agent.send('GET', `/dids/${did}`, { headers: { ...(accept && { accept }) } })
  const text = await response.text()
  const type = response.headers.get('content-type')
  const body = text.startsWith('{') ? (JSON.parse(text) as Record<string, any>) : undefined
  return { status: response.status, type, text, body }
}

describe('Accept', () => {
  test.each([
    [undefined, result],
    ['*/*', result],
    ['application/*', result],
    ['application/ld+json', result],
    [result, result],
    ['application/ld+json;profile="https://w3id.org/did-resolution"', result],
    ['text/html,application/xhtml+xml,*/*;q=0.8', result],
    ['application/did-resolution', 'application/did-resolution'],
    ['application/json', 'application/json'],
    ['application/did+ld+json', 'application/did+ld+json'],
    ['APPLICATION/DID+LD+JSON', 'application/did+ld+json'],
    ['application/did+json', 'application/did+json'],
    ['application/did', 'application/did'],
    ['application/did+json;q=0.5, application/did+ld+json', 'application/did+ld+json'],
    ['application/did+ld+json;q=0.1, application/json;q=0.2', 'application/json'],
    ['application/did+ld+json, */*;q=0.1', 'application/did+ld+json'],
    ['application/did+ld+json;q=0, */*', result],
    ['text/html, application/did+json;q=0.1', 'application/did+json'],
  ])('%s is answered with %s', async (accept, type) => {
    const { status, type: sent, body } = await get(key, accept)
    expect([status, sent]).toEqual([200, type])
    if (/^application\/did(?:$|\+)/.test(type)) return expect(body!['id']).toBe(key)
    expect(body).toMatchObject({
      '@context': 'https://w3id.org/did-resolution/v1',
      didDocument: { id: key },
      didDocumentMetadata: {},
      didResolutionMetadata: { contentType: 'application/did+ld+json' },
    })
  })

  test.each([
    'text/html',
    'application/xml',
    'application/did+cbor',
    'application/ld+json;profile="https://other.example"',
    '*/*;q=0',
    'junk',
  ])('%s is 406, before anything is resolved', async (accept) => {
    answer = () => expect.unreachable()
    const { status, type, body } = await get(webDid(), accept)
    expect([status, type]).toEqual([406, result])
    expect(body!['didResolutionMetadata']).toMatchObject({
      error: 'representationNotSupported',
      message: expect.stringContaining('did+ld+json'),
    })
  })
})

describe('the status', () => {
  test.each([
    ['did:prism:1', 400, 'invalidDid'],
    ['did:key:z6Mk', 400, 'invalidDid'],
    ['did:web:10.0.0.1', 400, 'invalidDid'],
    ['junk', 400, 'invalidDid'],
    ['%00', 400, 'invalidDid'],
    ['%zz', 400, 'invalidDid'],
    ['%ff', 400, 'invalidDid'],
    ['did:example:1', 501, 'methodNotSupported'],
    [toShortForm('0'.repeat(64)), 404, 'notFound'],
  ])('of %s is %i, in both representations', async (did, status, error) => {
    const whole = await get(did)
    expect([whole.status, whole.type]).toEqual([status, result])
    expect(whole.body).toEqual({
      '@context': 'https://w3id.org/did-resolution/v1',
      didDocumentMetadata: {},
      didResolutionMetadata: { error, message: expect.stringMatching(/./) },
    })
    const bare = await get(did, 'application/did+ld+json')
    expect([bare.status, bare.text]).toEqual([status, whole.body!['didResolutionMetadata'].message])
  })

  test('of an unpublished long form and of a published DID is 200, of a deactivated one 410 with metadata', async () => {
    const state = published()
    const before = await get(longForm)
    expect([before.status, before.body!['didDocumentMetadata']]).toEqual([
      200,
      { deactivated: false, versionId: state.suffix },
    ])
    expect(before.body!['didDocument']).toMatchObject({ id: longForm, controller: longForm })
    await agent.agent.env.ledger.submit(signedCreate())
    const canonicalId = toShortForm(state.suffix)
    const after = await get(canonicalId)
    expect(after.body!['didDocumentMetadata']).toMatchObject({
      canonicalId,
      deactivated: false,
      created: expect.stringMatching(/Z$/),
    })
    await agent.agent.env.ledger.submit(signedDeactivate(state))
    for (const did of [canonicalId, longForm]) {
      const { status, body } = await get(did)
      expect(status).toBe(410)
      expect(body).not.toHaveProperty('didDocument')
      expect(body!['didDocumentMetadata']).toMatchObject({
        canonicalId,
        deactivated: true,
        updated: expect.stringMatching(/Z$/),
      })
      expect(body!['didResolutionMetadata'].error).toBe('deactivated')
    }
  })

  test('of a did:web depends on its host: available, missing, failing', async () => {
    answer = (_, response) => response.end(JSON.stringify({ id: webDid() }))
    const encoded = encodeURIComponent(webDid())
    expect((await get(encoded)).body!['didDocument']).toEqual({ id: webDid() })
    answer = (_, response) => response.writeHead(404).end()
    expect((await get(encoded)).status).toBe(404)
    answer = (_, response) => response.writeHead(502).end('<html>what the gateway says')
    const { status, body } = await get(encoded)
    expect(status).toBe(500)
    expect(body!['didResolutionMetadata']).toEqual({
      error: 'internalError',
      message: expect.stringContaining('502'),
    })
    expect((await get(encoded, 'application/did+json')).status).toBe(500)
  })

  test('of an internal error is 500 without details', async () => {
    const other = await sharedAgent()
    await other.agent.env.ledger.close()
    const response = await other.send('GET', `/dids/${longForm}`)
    expect(response.status).toBe(500)
    const { didResolutionMetadata } = (await response.json()) as Record<string, any>
    expect(didResolutionMetadata).toEqual({
      error: 'internalError',
      message: expect.not.stringMatching(/sql|destroy|database/i),
    })
  })
})

describe('the path', () => {
  test.each([
    ['encoded as it should be', (did: string) => encodeURIComponent(did)],
    ['with its colons bare, the rest encoded', (did: string) => did.replaceAll('%', '%25')],
    ['as it is', (did: string) => did],
  ])('holds a DID with a port %s', async (_, write) => {
    answer = (incoming, response) =>
      response.end(
        JSON.stringify({ id: incoming.url === '/.well-known/did.json' ? webDid() : 'did:web:wrong' }),
      )
    for (const suffix of ['', '/', '?a=b', '?a=%25'])
      expect((await get(write(webDid()) + suffix)).body!['didDocument']).toEqual({ id: webDid() })
  })

  test('with an encoded colon is decoded', async () => {
    answer = (_, response) => response.writeHead(404).end()
    const { body } = await get(encodeURIComponent('did:web:localhost:8080'))
    expect(body!['didResolutionMetadata'].message).toContain('did:web:localhost:8080')
  })
})

/** Sends a raw path, which `fetch` would normalize. */
function status(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(agent.url)
    request({ hostname, port, path }, (response) => resolve(response.resume().statusCode!))
      .on('error', reject)
      .end()
  })
}

test('any path gets one of the documented responses', async () => {
  const known = [200, 400, 404, 410, 501]
  // Without did:web, because invalid hosts would be looked up.
  const good = [key, peer, longForm, createJwkDid(toPublic(generateKey('secp256k1'))), 'did:example:1']
  const inPath = (text: string) => encodeURIComponent(Buffer.from(text).toString())
  const spoiled = fc.tuple(
    fc.constantFrom(...good),
    fc.nat(300),
    fc.nat(8),
    fc.string({ unit: character, maxLength: 8 }),
  )
  await fc.assert(
    fc.asyncProperty(spoiled, async ([did, at, removed, put]) => {
      expect(known).toContain(
        await status(`/dids/${inPath(did.slice(0, at) + put + did.slice(at + removed))}`),
      )
    }),
    { seed: 3, numRuns: 200 },
  )
  const raw = fc.string({
    unit: fc.constantFrom(...'abz019%:.-_~!$&()*+,;=@/', '%25', '%3A', '%00', '%ff', 'did:', 'prism:'),
  })
  await fc.assert(
    fc.asyncProperty(raw, async (path) => {
      expect(known).toContain(await status(`/dids/${path}`))
    }),
    { seed: 4, numRuns: 200 },
  )
})

test('one address has a limit per minute and gets Retry-After; another address is not affected', async () => {
  const limited = await sharedAgent({
    DID_RESOLUTIONS_PER_MINUTE: '3',
    AGENT_TRUST_PROXY: 'true',
    AGENT_ALLOW_PRIVATE_NETWORK: 'true',
  })
  let asked = 0
  answer = (_, response) => void (asked++, response.writeHead(404).end())
  const ask = (from: string, prefix = '') =>
    limited.send('GET', `${prefix}/dids/did:web:localhost%3A${host.port}:${randomUUID()}`, {
      headers: { 'x-forwarded-for': from },
    })
  for (const prefix of ['', '/cloud-agent', '/prism-agent'])
    expect((await ask('192.0.2.1', prefix)).status).not.toBe(429)
  expect(asked).toBe(3)
  const refused = await ask('192.0.2.1')
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({
    type: 'TooManyRequests',
    detail: expect.stringContaining('DID_RESOLUTIONS_PER_MINUTE'),
  })
  expect(asked).toBe(3)
  expect((await ask('192.0.2.2')).status).not.toBe(429)
  // DIDs that need no network call are not counted.
  expect(
    (await limited.send('GET', '/_system/health', { headers: { 'x-forwarded-for': '192.0.2.1' } })).status,
  ).toBe(200)
})
