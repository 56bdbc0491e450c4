import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { HttpClient } from '../../../src/foundation/net/http-client.ts'
import { createHttpClient } from '../../../src/foundation/net/http-client.ts'
import { Problem } from '../../../src/foundation/problem.ts'
import { toEnvelope } from '../../../src/credentials/schemas/did-url.ts'
import {
  dereference,
  dereferenceSchema,
  type SchemaSources,
} from '../../../src/credentials/schemas/dereference.ts'
import type { CredentialSchema } from '../../../src/credentials/schemas/schema.ts'
import { startServer } from '../../support/server.ts'

const guid = '3f86a73f-5b78-39c7-af77-0c16123fa9c2'
const licence = { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties: {} }
const record = {
  guid,
  name: 'licence',
  type: 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json',
  schema: licence,
  kind: 'CredentialSchema',
}

/** A server of documents by path, which records requests, and a client. */
async function network(documents: Record<string, unknown>) {
  const asked: string[] = []
  const server = await startServer((request, response) => {
    asked.push(request.url!)
    const document = documents[request.url!]
    response
      .writeHead(document === undefined ? 404 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(document ?? 'internal secret'))
  })
  const http = createHttpClient({ allow: 'loopback' })
  return {
    http,
    asked,
    documents,
    url: server.url,
    read: (url: string, change: Partial<SchemaSources> = {}) => dereferenceSchema(url, sources(http, change)),
    async [Symbol.asyncDispose]() {
      await http.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

const own = { ...record, guid } as unknown as CredentialSchema

function sources(http: HttpClient, change: Partial<SchemaSources> = {}): SchemaSources {
  return {
    http,
    resolve: (did) => Promise.reject(new Problem('error:DIDResolution:notFound', `${did} is not there`)),
    findSchema: async (asked) => (asked === guid ? own : undefined),
    baseUrls: ['https://agent.example/cloud-agent', 'https://agent.example/'],
    ...change,
  }
}

describe('a URL of this agent’s registry', () => {
  test.each([
    `https://agent.example/schema-registry/schemas/${guid}`,
    `https://agent.example/schema-registry/schemas/${guid}/`,
    `https://agent.example/schema-registry/schemas/${guid}/schema`,
    `https://agent.example/schema-registry/schemas/did-url/${guid}`,
    `https://agent.example/schema-registry/schemas/did-url/${guid}/schema?resourceHash=1`,
    `https://agent.example/schema-registry/schemas/${guid.toUpperCase()}?x=y#z`,
    `https://agent.example/cloud-agent/schema-registry/schemas/${guid}`,
    `https://agent.example//schema-registry/schemas/${guid}`,
    `https://agent.example/cloud-agent///schema-registry/schemas/${guid}/schema`,
    `https://AGENT.example:443/cloud-agent/../schema-registry/schemas/${guid}`,
  ])('%s is read from the database', async (url) => {
    await using net = await network({})
    expect(await net.read(url)).toEqual(licence)
  })

  test('returns the record, or only the schema', async () => {
    await using net = await network({})
    const url = `https://agent.example/schema-registry/schemas/${guid}`
    expect(await dereference(url, sources(net.http))).toEqual({ schema: licence, record: own })
    expect(await dereference(`${url}/schema`, sources(net.http))).toEqual({ schema: licence })
  })

  test('with an unknown guid is an error', async () => {
    await using net = await network({})
    const url = 'https://agent.example/schema-registry/schemas/00000000-0000-3000-8000-000000000000'
    await expect(net.read(url)).rejects.toMatchObject({
      type: 'error:CredentialSchemaError:SchemaDereferencingError',
      status: 422,
      message: expect.stringContaining("this agent's registry has no schema"),
    })
  })

  test.each([
    `/other/schema-registry/schemas/${guid}`,
    `/schema-registry/schemas/${guid}/other`,
    `/schema-registry/schemas/did-url/did-url/${guid}`,
    `/schema-registry/${guid}`,
  ])('is not %s', async (path) => {
    await using net = await network({})
    const baseUrls = [net.url, `${net.url}/cloud-agent`]
    await expect(net.read(net.url + path, { baseUrls })).rejects.toThrow('bad-status')
    expect(net.asked).toEqual([path])
  })

  test.each(['http://agent.example', 'https://agent.example:8443', 'https://agent.example.evil'])(
    'is none below %s',
    async (base) => {
      await using net = await network({})
      const path = `/schema-registry/schemas/${guid}`
      await expect(net.read(net.url + path, { baseUrls: [base] })).rejects.toThrow('bad-status')
    },
  )
})

describe('another URL', () => {
  test('may return a JSON Schema, a record, or an envelope of either', async () => {
    const envelope = toEnvelope('did:prism:1', 'r', record)
    await using net = await network({
      '/s': licence,
      '/r': record,
      '/e': envelope,
      '/f': toEnvelope('did:prism:1', 'f', licence),
    })
    for (const path of ['/s', '/r', '/e', '/f']) expect(await net.read(net.url + path)).toEqual(licence)
  })

  test('may return a JSON Schema with a member named schema', async () => {
    const odd = { $schema: licence.$schema, schema: { a: 1 } }
    await using net = await network({ '/s': odd })
    expect(await net.read(`${net.url}/s`)).toEqual(odd)
  })

  test('may return an AnonCreds schema, which requires every attribute as text', async () => {
    const anonCreds = { name: 'id', version: '1.0', attrNames: ['name', 'age'], issuerId: 'did:prism:1' }
    await using net = await network({
      '/a': anonCreds,
      '/r': { ...record, type: 'AnoncredSchemaV1', schema: anonCreds },
      '/b': { attrNames: [1] },
    })
    const asked = {
      $schema: licence.$schema,
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'string' } },
      required: ['name', 'age'],
      additionalProperties: false,
    }
    for (const path of ['/a', '/r']) expect(await net.read(net.url + path)).toEqual(asked)
    expect((await dereference(`${net.url}/r`, sources(net.http))).schema).toEqual(anonCreds)
    await expect(net.read(`${net.url}/b`)).rejects.toMatchObject({
      type: 'error:CredentialSchemaError:InvalidSchema',
      message: expect.stringContaining('name: '),
    })
  })

  test('is fetched once a minute', async () => {
    await using net = await network({ '/s': licence })
    const url = `${net.url}/s`
    let now = 1_000_000
    const clock = sources(net.http, { now: () => now })
    await Promise.all([dereferenceSchema(url, clock), dereferenceSchema(url, clock)])
    now += 59_999
    await dereferenceSchema(url, clock)
    expect(net.asked).toHaveLength(1)
    net.documents['/s'] = { type: 'array' }
    now += 1
    expect(await dereferenceSchema(url, clock)).toEqual({ type: 'array' })
    expect(net.asked).toHaveLength(2)
  })

  test('is fetched again after a failure, and by another client', async () => {
    await using net = await network({})
    const url = `${net.url}/s`
    await expect(net.read(url)).rejects.toThrow()
    net.documents['/s'] = licence
    expect(await net.read(url)).toEqual(licence)
    const another = createHttpClient({ allow: 'loopback' })
    expect(await dereferenceSchema(url, sources(another))).toEqual(licence)
    expect(net.asked).toHaveLength(3)
    await another.close()
  })

  test('is evicted from the cache by two hundred others', async () => {
    const paths = Array.from({ length: 201 }, (_, i) => `/${i}`)
    await using net = await network(Object.fromEntries(paths.map((path) => [path, licence])))
    for (const path of paths) await net.read(net.url + path)
    await net.read(net.url + paths[1]!)
    expect(net.asked).toHaveLength(201)
    await net.read(net.url + paths[0]!)
    expect(net.asked).toHaveLength(202)
  })

  test.each([
    null,
    'text',
    1,
    [licence],
    true,
    { resource: 'AA', url: 'did:prism:1' },
    JSON.parse('{"__proto__":{}}'),
  ])('that returns %j is an error', async (answer) => {
    await using server = await startServer((_, response) => response.end(JSON.stringify(answer)))
    const http = createHttpClient({ allow: 'loopback' })
    await expect(dereferenceSchema(`${server.url}/s`, sources(http))).rejects.toMatchObject({
      type: 'error:CredentialSchemaError:SchemaDereferencingError',
    })
    await http.close()
  })

  test('that fails is an error with URL and reason, without the password', async () => {
    await using net = await network({})
    await expect(net.read(`${net.url}/a`)).rejects.toMatchObject({
      type: 'error:CredentialSchemaError:SchemaDereferencingError',
      status: 422,
      message: `The credential schema ${net.url}/a could not be read: ${net.url.slice(7)} answered with status 404 (bad-status).`,
    })
    const withPassword = net.url.replace('//', '//user:hidden@')
    await expect(net.read(withPassword)).rejects.toThrow(`schema ${net.url} could not be read`)
  })
})

describe('a DID URL', () => {
  const did = `did:prism:${'4a'.repeat(32)}`
  const path = `schema-registry/schemas/did-url/${guid}`
  /** Resolves DIDs with a service at a URL. */
  const resolve =
    (serviceEndpoint: string | object, id = '#agent-base-url') =>
    async (asked: string) =>
      ({ id: asked, service: [{ id: asked + id, type: 'LinkedResourceV1', serviceEndpoint }] }) as never

  test('leads to its author’s agent, with the parameters of the Cloud Agent and of DID Core', async () => {
    const envelope = toEnvelope(did, path, record)
    await using net = await network({ [`/${path}`]: envelope, '/agent/s': licence })
    const read = (url: string, at: string | object = net.url) => net.read(url, { resolve: resolve(at) })
    expect(await read(envelope.url)).toEqual(licence)
    expect(
      await read(envelope.url.replace('?resourceHash', '&resourceHash'), { uri: `${net.url}/` }),
    ).toEqual(licence)
    expect(await read(`${did}?service=agent-base-url&relativeRef=%2Fs`, [`${net.url}/agent`])).toEqual(
      licence,
    )
  })

  test('of this agent is read from the database', async () => {
    await using net = await network({})
    const { url } = toEnvelope(did, path, own)
    expect(await dereference(url, sources(net.http, { resolve: resolve('https://agent.example') }))).toEqual({
      schema: licence,
      record: own,
    })
  })

  test.each<[string, string, object | undefined, string]>([
    [
      'a resource with another digest',
      `resourceService=agent-base-url&resourcePath=s?resourceHash=${'0'.repeat(64)}`,
      undefined,
      'digest',
    ],
    ['no resource', 'versionId=1', undefined, 'resourcePath'],
    ['another service', 'resourceService=other&resourcePath=s', undefined, '#other'],
    ['a service without an address', 'resourceService=agent-base-url&resourcePath=s', {}, 'no address'],
    [
      'a service at a forbidden address',
      'resourceService=agent-base-url&resourcePath=s',
      { uri: 'http://10.0.0.1' },
      'address-not-allowed',
    ],
  ])('with %s is an error', async (_, query, endpoint, reason) => {
    await using net = await network({ '/s': licence })
    const error = {
      type: 'error:CredentialSchemaError:SchemaDereferencingError',
      message: expect.stringContaining(reason),
    }
    const changed = sources(net.http, { resolve: resolve(endpoint ?? net.url) })
    await expect(dereferenceSchema(`${did}?${query}`, changed)).rejects.toMatchObject(error)
  })

  test('of an unresolvable DID is an error; a temporary failure is 503', async () => {
    await using net = await network({})
    const url = toEnvelope(did, path, record).url
    await expect(net.read(url)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('is not there'),
    })
    const away = sources(net.http, {
      resolve: () => Promise.reject(new Problem('error:ServiceUnavailable', 'The ledger is away.')),
    })
    await expect(dereferenceSchema(url, away)).rejects.toMatchObject({ status: 503 })
  })
})

describe('with the HTTP client', () => {
  test('a private address is refused, and no response is quoted', async () => {
    await using server = await startServer((_, response) => response.writeHead(500).end('internal secret'))
    const [guarded, open] = [createHttpClient({ allow: 'public' }), createHttpClient({ allow: 'loopback' })]
    try {
      await expect(dereferenceSchema(`${server.url}/s`, sources(guarded))).rejects.toMatchObject({
        message: expect.stringContaining('address-not-allowed'),
      })
      expect(server.connections()).toBe(0)
      const error = await dereferenceSchema(`${server.url}/s`, sources(open)).catch((reason: Error) => reason)
      expect(inspect(error)).toContain('bad-status')
      expect(inspect(error)).not.toContain('secret')
    } finally {
      await Promise.all([guarded.close(), open.close()])
    }
  })

  test.each(['file:///etc/passwd', 'resource:///schema.json', 'no url'])('%s is an error', async (url) => {
    const http = createHttpClient({ allow: 'any' })
    await expect(dereferenceSchema(url, sources(http))).rejects.toMatchObject({
      message: expect.stringContaining('bad-url'),
    })
    await http.close()
  })

  test('a redirect is followed', async () => {
    await using server = await startServer((request, response) => {
      if (request.url === '/s') response.writeHead(302, { location: '/t' }).end()
      else response.end(JSON.stringify(record))
    })
    const http = createHttpClient({ allow: 'loopback' })
    expect(await dereferenceSchema(`${server.url}/s`, sources(http))).toEqual(licence)
    await http.close()
  })
})
