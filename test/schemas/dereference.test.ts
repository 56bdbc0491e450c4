import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { HttpClient } from '../../src/net/guarded-agent.ts'
import { createHttpClient } from '../../src/net/guarded-agent.ts'
import { UnreachableError } from '../../src/net/unreachable-error.ts'
import { dereferenceSchema, type SchemaSources } from '../../src/schemas/dereference.ts'
import { startServer } from '../net/_server.ts'

const guid = '3f86a73f-5b78-39c7-af77-0c16123fa9c2'
const licence = { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties: {} }
const record = {
  guid,
  name: 'licence',
  type: 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json',
  schema: licence,
  kind: 'CredentialSchema',
}

/** A network of documents, which notes what was asked for. */
function network(documents: Record<string, unknown>) {
  const asked: string[] = []
  const http: HttpClient = {
    post: () => Promise.reject(new Error('nothing is posted')),
    exchange: () => Promise.reject(new Error('nothing is exchanged')),
    getJson: async (url) => {
      asked.push(url)
      if (!(url in documents)) throw new UnreachableError('bad-status', 'there answered with status 404')
      return documents[url]
    },
    close: async () => undefined,
  }
  return { http, asked, documents }
}

function sources(http: HttpClient, change: Partial<SchemaSources> = {}): SchemaSources {
  return {
    http,
    ownSchema: async (asked) => (asked === guid ? licence : undefined),
    ownBaseUrls: ['https://agent.example/cloud-agent', 'https://agent.example/'],
    ...change,
  }
}

describe('a URL of our own registry', () => {
  test.each([
    `https://agent.example/schema-registry/schemas/${guid}`,
    `https://agent.example/schema-registry/schemas/${guid}/`,
    `https://agent.example/schema-registry/schemas/${guid}/schema`,
    `https://agent.example/schema-registry/schemas/${guid.toUpperCase()}?x=y#z`,
    `https://agent.example/cloud-agent/schema-registry/schemas/${guid}`,
    `https://AGENT.example:443/cloud-agent/../schema-registry/schemas/${guid}`,
  ])('%s is answered without the network', async (url) => {
    const { http, asked } = network({})
    expect(await dereferenceSchema(url, sources(http))).toEqual(licence)
    expect(asked).toEqual([])
  })

  test('with an unknown guid is an error, and the network is not asked', async () => {
    const { http, asked } = network({})
    const url = 'https://agent.example/schema-registry/schemas/00000000-0000-3000-8000-000000000000'
    await expect(dereferenceSchema(url, sources(http))).rejects.toMatchObject({
      type: 'error:CredentialSchemaError:SchemaDereferencingError',
      status: 422,
    })
    expect(asked).toEqual([])
  })

  test.each([
    `https://agent.example.evil/schema-registry/schemas/${guid}`,
    `https://agent.example/other/schema-registry/schemas/${guid}`,
    `http://agent.example/schema-registry/schemas/${guid}`,
    `https://agent.example:8443/schema-registry/schemas/${guid}`,
    `https://agent.example/schema-registry/schemas/${guid}/other`,
  ])('is not %s', async (url) => {
    const { http, asked } = network({})
    await expect(dereferenceSchema(url, sources(http))).rejects.toMatchObject({
      type: 'error:CredentialSchemaError:SchemaDereferencingError',
    })
    expect(asked).toEqual([url])
  })
})

describe('a URL of others', () => {
  const url = 'https://other.example/schema'

  test('may give a JSON schema or a record that has one', async () => {
    const { http } = network({ [url]: licence, 'https://other.example/record': record })
    expect(await dereferenceSchema(url, sources(http))).toEqual(licence)
    expect(await dereferenceSchema('https://other.example/record', sources(http))).toEqual(licence)
  })

  test('may give a JSON schema with a property named schema', async () => {
    const odd = { $schema: licence.$schema, schema: { a: 1 } }
    const { http } = network({ [url]: odd })
    expect(await dereferenceSchema(url, sources(http))).toEqual(odd)
  })

  test('is asked once a minute', async () => {
    const { http, asked, documents } = network({ [url]: licence })
    let now = 1_000_000
    const clock = sources(http, { now: () => now })
    await Promise.all([dereferenceSchema(url, clock), dereferenceSchema(url, clock)])
    now += 59_999
    await dereferenceSchema(url, clock)
    expect(asked).toHaveLength(1)
    documents[url] = { type: 'array' }
    now += 1
    expect(await dereferenceSchema(url, clock)).toEqual({ type: 'array' })
    expect(asked).toHaveLength(2)
  })

  test('is asked again after a failure, and by another client', async () => {
    const { http, asked, documents } = network({})
    await expect(dereferenceSchema(url, sources(http))).rejects.toThrow()
    documents[url] = licence
    expect(await dereferenceSchema(url, sources(http))).toEqual(licence)
    expect(asked).toHaveLength(2)
    await expect(dereferenceSchema(url, sources(network({}).http))).rejects.toThrow()
  })

  test('is forgotten when two hundred others have been asked', async () => {
    const urls = Array.from({ length: 201 }, (_, i) => `https://other.example/${i}`)
    const { http, asked } = network(Object.fromEntries(urls.map((each) => [each, licence])))
    for (const each of urls) await dereferenceSchema(each, sources(http))
    await dereferenceSchema(urls[1]!, sources(http))
    expect(asked).toHaveLength(201)
    await dereferenceSchema(urls[0]!, sources(http))
    expect(asked).toHaveLength(202)
  })

  test.each([null, 'text', 1, [licence], true])('that gives %j is an error', async (answer) => {
    const { http } = network({ [url]: answer })
    await expect(dereferenceSchema(url, sources(http))).rejects.toMatchObject({ message: expect.stringContaining('not a JSON object') })
  })

  test('that fails names URL and reason, but no password', async () => {
    const { http } = network({})
    await expect(dereferenceSchema('https://user:hidden@other.example/a', sources(http))).rejects.toMatchObject({
      type: 'error:CredentialSchemaError:SchemaDereferencingError',
      status: 422,
      message: 'The credential schema https://other.example/a could not be read: there answered with status 404 (bad-status).',
    })
  })
})

describe('over the real client', () => {
  test('a private address is not asked, and nothing of what a server says is repeated', async () => {
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

  test.each(['did:prism:1?resourcePath=a', 'file:///etc/passwd', 'resource:///schema.json', 'no url'])('%s is an error', async (url) => {
    const http = createHttpClient({ allow: 'any' })
    await expect(dereferenceSchema(url, sources(http))).rejects.toMatchObject({ message: expect.stringContaining('bad-url') })
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
