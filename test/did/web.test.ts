import fc from 'fast-check'
import type { RequestListener } from 'node:http'
import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/foundation/problem.ts'
import { generateKey, toPublic } from '../../src/foundation/crypto/keys.ts'
import { keysFor } from '../../src/did/document.ts'
import { createResolver } from '../../src/did/resolver.ts'
import { resolveWebDid, toUrl, type WebClient } from '../../src/did/web.ts'
import { createHttpClient } from '../../src/foundation/net/http-client.ts'
import { startServer } from '../support/server.ts'
import { words } from '../support/words.ts'

const isInvalid = (error: unknown) =>
  error instanceof Problem && error.type === 'error:DIDResolution:invalidDid'

describe('the address of a document', () => {
  // The first three are examples of the specification.
  test.each([
    ['did:web:w3c-ccg.github.io', 'https://w3c-ccg.github.io/.well-known/did.json'],
    ['did:web:w3c-ccg.github.io:user:alice', 'https://w3c-ccg.github.io/user/alice/did.json'],
    ['did:web:example.com%3A3000:user:alice', 'https://example.com:3000/user/alice/did.json'],
    ['did:web:example.com%3a3000', 'https://example.com:3000/.well-known/did.json'],
    ['did:web:example.com:with%20space', 'https://example.com/with%20space/did.json'],
    ['did:web:example.com:a...b', 'https://example.com/a...b/did.json'],
    ['did:web:xn--exmple-cua.com', 'https://xn--exmple-cua.com/.well-known/did.json'],
    ['did:web:localhost', 'https://localhost/.well-known/did.json'],
  ])('%s is %s', (did, url) => {
    expect(toUrl(did)).toBe(url)
    expect(new URL(url).href).toBe(url)
  })

  test.each([
    ...words(`
      did:web: did:web::a did:web:example.com: did:web:example.com::a did:web:example.com/a
      did:web:example.com?a did:web:example.com#a did:web:user@example.com did:web:user%40example.com
      did:web:user%3Apass%40example.com did:web:example.com%2Fa did:web:example.com%23 did:web:example.com%3A
      did:web:example.com%3A99999 did:web:example.com%3A1%3A2 did:web:example.com%3Ax did:web:example.com:..
      did:web:example.com:. did:web:example.com:%2e%2E:a did:web:example.com:.%2e did:web:example.com:a%2Fb
      did:web:example.com:a%5Cb did:web:example.com:a%3Fb did:web:example.com:a%23b did:web:example.com:a%00b
      did:web:example.com:a%0d%0ab did:web:example.com:a% did:web:example.com:a%ff did:web:-example.com
      did:web:. did:web:.. did:web:%E2%93%9Bocalhost did:web:10.0.0.1 did:web:127.0.0.1 did:web:127.1
      did:web:2130706433 did:web:0x7f.1 did:web:0177.0.0.1%3A80 did:web:93.184.216.34 did:web:%5B%3A%3A1%5D
      did:web:%5B2606%3A4700%3A%3A1%5D did:web:%5B%3A%3Affff%3A127.0.0.1%5D did:WEB:example.com
    `),
    `did:web:${'a.'.repeat(2_000)}com`,
  ])('%s has none', (did) => {
    expect(() => toUrl(did)).toThrow(expect.toSatisfy(isInvalid))
  })

  test('with `allowsLoopback`, localhost and loopback addresses are called by http, other hosts by https', () => {
    expect(toUrl('did:web:localhost%3A3000', true)).toBe('http://localhost:3000/.well-known/did.json')
    expect(toUrl('did:web:127.0.0.1%3A3000:a', true)).toBe('http://127.0.0.1:3000/a/did.json')
    expect(toUrl('did:web:%5B%3A%3A1%5D%3A3000', true)).toBe('http://[::1]:3000/.well-known/did.json')
    expect(toUrl('did:web:example.com%3A3000', true)).toBe('https://example.com:3000/.well-known/did.json')
    expect(toUrl('did:web:127.0.0.1.example.com', true)).toBe(
      'https://127.0.0.1.example.com/.well-known/did.json',
    )
    for (const host of [
      '10.0.0.1',
      '192.168.0.1',
      '169.254.169.254',
      '%5Bfe80%3A%3A1%5D',
      '%5B%3A%3Affff%3A7f00%3A1%5D',
    ])
      expect(() => toUrl(`did:web:${host}`, true)).toThrow(expect.toSatisfy(isInvalid))
  })

  test('requests go only to the host of the DID, and only for its document', () => {
    const part = fc.oneof(
      fc.constantFrom('%3A', '%2e', '.', '..', 'a', '%', '@', '%40', '[', '%5B', '\\', '#', '?', '/', '%00'),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.constant(':'))), (parts) => {
        let text: string
        try {
          text = toUrl(`did:web:example.com:${parts.join('')}`)
        } catch (error) {
          return void expect(error).toSatisfy(isInvalid)
        }
        const { href, origin, pathname } = new URL(text)
        expect(href).toBe(text)
        expect(origin + pathname).toBe(text)
        expect(text).toMatch(/^https:\/\/example\.com\/.+\/did\.json$/)
      }),
      { seed: 1, numRuns: 2_000 },
    )
  })
})

/** A host of documents, and a resolver that may connect to it. */
async function startHost(listener: RequestListener) {
  const server = await startServer(listener)
  const http = createHttpClient({ allow: 'loopback' })
  const { resolve } = createResolver({
    getState: () => Promise.resolve(undefined),
    hosts: { http, allowsLoopback: true },
  })
  return {
    server,
    resolve,
    did: `did:web:127.0.0.1%3A${server.port}`,
    async [Symbol.asyncDispose]() {
      await http.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

const method = (id: string) => ({
  id: `${id}#key-1`,
  type: 'JsonWebKey2020',
  controller: id,
  publicKeyJwk: toPublic(generateKey('Ed25519')),
})

describe('a host', () => {
  test('with the document gets one request, at the path of the DID', async () => {
    const asked: string[] = []
    await using host = await startHost((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.accept}`)
      const id = request.url === '/a/b/did.json' ? `${host.did}:a:b` : host.did
      response.end(
        JSON.stringify({
          id,
          verificationMethod: [method(id)],
          authentication: ['#key-1', `${id}#key-1`],
          extra: 1,
        }),
      )
    })
    for (const did of [host.did, `${host.did}:a:b`]) {
      const { didDocument, didResolutionMetadata } = await host.resolve(did)
      expect(didDocument).toMatchObject({ id: did, extra: 1 })
      expect(keysFor(didDocument!, 'authentication').map(({ id }) => id)).toEqual([
        `${did}#key-1`,
        `${did}#key-1`,
      ])
      expect(didResolutionMetadata).toEqual({ contentType: 'application/did+ld+json' })
    }
    const accept = 'application/did+ld+json, application/did+json, application/json;q=0.9'
    expect(asked).toEqual([`GET /.well-known/did.json ${accept}`, `GET /a/b/did.json ${accept}`])
  })

  const canary = 'what-the-host-says'
  const junk: [string, (did: string) => string | Uint8Array][] = [
    ['nothing', () => ''],
    ['no JSON', () => `<html>${canary}`],
    ['no object', () => '[]'],
    ['an object without id', () => '{}'],
    ['the document of another DID', (did) => JSON.stringify({ id: `${did}:${canary}` })],
    ['its id in another spelling', (did) => JSON.stringify({ id: did.replace('%3A', '%3a') })],
    [
      'a document with something in the place of keys',
      (did) => JSON.stringify({ id: did, verificationMethod: canary }),
    ],
    ['no UTF-8', () => Uint8Array.of(0xff, 0xfe)],
    ['more than is read', (did) => JSON.stringify({ id: did, padding: 'x'.repeat(300_000) })],
    [
      'a document that nests for ever',
      (did) => `{"id":"${did}","deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    ],
  ]
  test.each(junk)('that answers with %s has no such document', async (name, make) => {
    await using host = await startHost((_, response) => response.end(make(host.did)))
    const answer = host.resolve(host.did)
    // A body that is not text may be the error page of a gateway.
    if (name === 'no UTF-8') return expect(answer).rejects.toMatchObject({ type: 'error:ServiceUnavailable' })
    const { didDocument, didResolutionMetadata } = await answer
    expect(didDocument).toBeUndefined()
    expect(didResolutionMetadata.error).toBe('notFound')
    expect(didResolutionMetadata.message).not.toContain(canary)
  })

  test.each([400, 401, 403, 404, 410, 204, 301, 302, 307, 308])(
    'that answers %i has no such document',
    async (status) => {
      await using host = await startHost((_, response) =>
        response.writeHead(status, { location: `/${canary}` }).end(canary),
      )
      const { didResolutionMetadata } = await host.resolve(host.did)
      expect(didResolutionMetadata).toMatchObject({
        error: 'notFound',
        message: expect.stringMatching(status < 400 && status > 300 ? /redirect/ : `${status}`),
      })
      expect(didResolutionMetadata.message).not.toContain(canary)
      expect(host.server.connections()).toBe(1)
    },
  )

  test.each([500, 502, 503, 504, 408, 425, 429])(
    'that answers %i says nothing about the DID',
    async (status) => {
      await using host = await startHost((_, response) => response.writeHead(status).end(canary))
      await expect(host.resolve(host.did)).rejects.toMatchObject({
        type: 'error:ServiceUnavailable',
        message: expect.not.stringContaining(canary),
      })
    },
  )

  test('that is unreachable, or closes the connection, is a temporary failure', async () => {
    await using host = await startHost((request) => request.socket.destroy())
    await expect(host.resolve(host.did)).rejects.toMatchObject({ type: 'error:ServiceUnavailable' })
    await host.server[Symbol.asyncDispose]()
    await expect(host.resolve(host.did)).rejects.toMatchObject({ type: 'error:ServiceUnavailable' })
  })

  test('that is too slow is a temporary failure, and one that answers 404 has no document', async () => {
    const resolve = (exchange: WebClient['exchange']) =>
      resolveWebDid('did:web:a.example', { http: { exchange } })
    const failing = (code: string) =>
      resolve(() => Promise.reject(Object.assign(new Error(canary), { code })))
    for (const code of ['timeout', 'refused']) {
      const error = await failing(code).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({
        type: 'error:ServiceUnavailable',
        message: expect.not.stringContaining(canary),
      })
    }
    for (const code of ['no-such-host', 'address-not-allowed', 'too-large', 'bad-url']) {
      const error = await failing(code).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({
        type: 'error:DIDResolution:notFound',
        message: expect.not.stringContaining(canary),
      })
    }
    const bug = new Error('a bug')
    await expect(resolve(() => Promise.reject(bug))).rejects.toBe(bug)
  })
})

describe('without permission to connect', () => {
  test('no request is sent, whatever the name resolves to', async () => {
    await using canary = await startServer((_, response) => response.end('{}'))
    const http = createHttpClient({
      allow: 'public',
      lookup: async () => [{ address: '127.0.0.1', family: 4 }],
    })
    const { resolve } = createResolver({
      getState: () => Promise.resolve(undefined),
      hosts: { http },
    })
    for (const host of ['localhost', 'rebound.example', 'internal']) {
      const { didResolutionMetadata } = await resolve(`did:web:${host}%3A${canary.port}`)
      expect(didResolutionMetadata).toMatchObject({
        error: 'notFound',
        message: expect.stringContaining('does not call'),
      })
    }
    expect((await resolve(`did:web:127.0.0.1%3A${canary.port}`)).didResolutionMetadata.error).toBe(
      'invalidDid',
    )
    expect(canary.connections()).toBe(0)
    await http.close()
  })
})
