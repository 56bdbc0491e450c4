/** The OpenAPI document is complete and matches the routes. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { openapi, type OpenApi } from '../../daemon/http/openapi.ts'
import { route, splitKey, type Contract } from '../../daemon/http/route.ts'
import { routes } from '../../daemon/routes/index.ts'
import published from '../../fixtures/cloud-agent/operations.json' with { type: 'json' }
import { sharedAgent, startAgent, type TestAgent } from '../support/agent.ts'
import { anyone } from './_route.ts'

type Operation = {
  summary: string
  operationId: string
  'x-extension'?: true
  security: Record<string, []>[]
  parameters?: { name: string; in: string; required: boolean; schema: object }[]
  requestBody?: { required: boolean; content: Record<string, { schema: { $ref?: string } }> }
  responses: Record<string, { description: string; content?: Record<string, { schema: { $ref?: string } }> }>
}

/** Returns every `$ref` in a value. */
function refs(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === '$ref' && typeof inner === 'string' ? [inner] : refs(inner),
  )
}

describe('the document of the agent', () => {
  let agent: TestAgent
  let document: OpenApi
  const operation = (key: (typeof routes)[number]['key']) => {
    const [method, path] = splitKey(key)
    return document.paths[path]![method.toLowerCase()] as unknown as Operation
  }

  beforeAll(async () => {
    agent = await startAgent()
    document = (await agent.tenant('GET /docs/openapi.json')) as unknown as OpenApi
  })
  afterAll(() => agent[Symbol.asyncDispose]())

  test('it is public, and contains the version and the URL of the agent', () => {
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
      servers: [{ url: agent.url }],
    })
  })

  test('each agent of a process has its own document', async () => {
    const other = await sharedAgent()
    expect(await other.tenant('GET /docs/openapi.json')).toMatchObject({ servers: [{ url: other.url }] })
  })

  test('it contains each route once, and nothing else', () => {
    const keys = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(keys.toSorted()).toEqual(routes.map(({ key }) => key).toSorted())
    expect(new Set(keys).size).toBe(routes.length)
  })

  test('it is a valid document of OpenAPI 3.1, according to an independent validator', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    expect(errors).toBeUndefined()
    expect(valid).toBe(true)
  })

  test('no two paths differ only in the names of their parameters', () => {
    const paths = Object.keys(document.paths).map((path) => path.replaceAll(/\{\w+\}/g, '{}'))
    expect(paths.filter((path, index) => paths.indexOf(path) !== index)).toEqual([])
  })

  test('every operation has an id: the Cloud Agent’s where it has the operation, otherwise one in camelCase', () => {
    const bare = (key: string) => key.replaceAll(/\{\w+\}/g, '{}')
    const theirs = new Map(Object.entries(published.operations).map(([key, id]) => [bare(key), id]))
    const ids = routes.map(({ key }) => operation(key).operationId)
    expect(new Set(ids).size).toBe(routes.length)
    for (const { key } of routes) {
      const expected = theirs.get(bare(key)) ?? expect.stringMatching(/^[a-z]+(?:[A-Z][a-z]+)+$/)
      expect(operation(key).operationId, key).toEqual(expected)
    }
    const ours = new Set(routes.map(({ key }) => bare(key)))
    expect([...theirs.keys()].filter((key) => !ours.has(key))).toEqual([])
  })

  test('operations that no other API has are marked as extensions', () => {
    const bare = (key: string) => key.replaceAll(/\{\w+\}/g, '{}')
    const cloudAgent = new Set(Object.keys(published.operations).map(bare))
    for (const { key } of routes)
      expect(operation(key)['x-extension'] && cloudAgent.has(bare(key)), key).not.toBe(true)
    const unmarked = routes.filter(({ key }) => !operation(key)['x-extension'] && !cloudAgent.has(bare(key)))
    // The enterprise suite, NeoPRISM, and an older path of the Cloud Agent are not extensions.
    const elsewhere = /^\w+ \/(?:onboard|did-authentication|api|schema-registry\/\{author\})\//
    expect(unmarked.filter(({ key }) => !elsewhere.test(key))).toEqual([])
  })

  test('every type has a name and none is recursive, so that code generators produce types that compile', () => {
    const { schemas } = document.components
    expect(Object.keys(schemas).filter((name) => !/^[A-Z]\w+$/.test(name))).toEqual([])
    const within = (name: string) =>
      refs(schemas[name]).map((ref) => ref.slice('#/components/schemas/'.length))
    const holds = (name: string, wanted: string): boolean =>
      within(name).some((inner) => inner === wanted || holds(inner, wanted))
    for (const name of Object.keys(schemas)) expect(holds(name, name), name).toBe(false)
    expect(schemas['JsonValue']).toEqual({ description: 'Any JSON value.' })
  })

  test('the responses of DID resolution list all media types and shapes, also of failures', async () => {
    const { responses } = operation('GET /dids/{didRef}')
    const result = 'application/ld+json; profile=https://w3id.org/did-resolution'
    for (const [did, status] of [
      ['did:prism:1', 400],
      [`did:prism:${'0'.repeat(64)}`, 404],
      ['did:example:1', 501],
    ] as const) {
      for (const accept of [result, 'application/did+ld+json', 'application/json']) {
        const response = await agent.send('GET', `/dids/${did}`, { headers: { accept } })
        const type = response.headers.get('content-type')!
        expect([response.status, type]).toEqual([status, accept])
        const { schema } = responses[status]!.content![type]!
        if (accept === 'application/did+ld+json') expect(schema).toMatchObject({ type: 'string' })
        else expect(schema).toEqual({ $ref: '#/components/schemas/DIDResolutionResponse' })
      }
    }
    expect(responses[200]!.content!['application/did+ld+json']!.schema).toEqual({
      $ref: '#/components/schemas/DIDDocument',
    })
    expect((await agent.send('GET', '/dids/junk', { headers: { accept: 'text/html' } })).status).toBe(406)
    expect(Object.keys(responses[406]!.content!)).toContain(result)
    expect(document.components.schemas['DIDResolutionResponse']).toMatchObject({
      required: ['@context', 'didDocumentMetadata', 'didResolutionMetadata'],
    })
  })

  test('a stream is described by its media type and its `Last-Event-ID` header', () => {
    const { parameters, responses } = operation('GET /events/stream')
    expect(Object.keys(responses[200]!.content!)).toEqual(['text/event-stream'])
    expect(parameters).toContainEqual(
      expect.objectContaining({ name: 'last-event-id', in: 'header', required: false }),
    )
  })

  test('a page is described as text beside the JSON for programs', () => {
    const { content } = operation('GET /onboard/{didRequestSubmissionId}').responses[200]!
    expect(content).toEqual({
      'application/json': {
        schema: { $ref: '#/components/schemas/LinkedDidRequest' },
        example: expect.any(Object),
      },
      'text/event-stream': {
        schema: { type: 'string', description: expect.stringContaining('`closed`') },
      },
      'text/html': { schema: { type: 'string' } },
    })
    expect(operation('GET /invitation').parameters).toContainEqual(
      expect.objectContaining({ name: '_oob', in: 'query', required: false }),
    )
  })

  test('every operation is in a group with a description, and every group has operations', () => {
    const groups = routes.map(({ key }) => (operation(key) as unknown as { tags: string[] }).tags)
    expect(document.tags.map(({ name }) => name).toSorted()).toEqual([...new Set(groups.flat())].toSorted())
    // A new first segment needs a group of its own.
    const inDocs = routes.filter((_, index) => groups[index]!.includes('docs')).map(({ key }) => key)
    expect(inDocs.filter((key) => !key.startsWith('GET /docs')).toSorted()).toEqual([
      'GET /',
      'GET /client.js',
      'GET /favicon.ico',
    ])
  })

  test('every reference resolves', () => {
    const all = refs(document)
    expect(all.length).toBeGreaterThan(routes.length)
    for (const ref of all) {
      expect(ref).toMatch(/^#\/components\/schemas\//)
      expect(document.components.schemas).toHaveProperty([ref.slice('#/components/schemas/'.length)])
    }
  })

  test('every name in a path is a required parameter, and no other path parameters exist', () => {
    for (const { key } of routes) {
      const names = [...key.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
      const parameters = (operation(key).parameters ?? []).filter((parameter) => parameter.in === 'path')
      expect(parameters.map(({ name }) => name).toSorted(), key).toEqual(names.toSorted())
      expect(parameters.every(({ required }) => required)).toBe(true)
    }
  })

  test('every operation has a summary, a success and the error body', () => {
    for (const { key, contract } of routes) {
      const { summary, responses } = operation(key)
      expect(summary.length, key).toBeGreaterThan(3)
      const { redirects, failures } = contract as Contract
      const others = [...(redirects ? ['303'] : []), ...(failures?.statuses.map(String) ?? [])]
      expect(Object.keys(responses)).toEqual([String(contract.reply[0]), ...others, 'default'])
      expect(responses['default']!.content!['application/json']!.schema).toEqual({
        $ref: '#/components/schemas/ErrorResponse',
      })
    }
  })

  test('security schemes name the header of each operation', () => {
    expect(document.components.securitySchemes).toMatchObject({
      adminApiKeyAuth: { in: 'header', name: 'x-admin-api-key' },
      apiKeyAuth: { in: 'header', name: 'apikey' },
      jwtAuth: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    })
    const [admin, tenant, token] = [{ adminApiKeyAuth: [] }, { apiKeyAuth: [] }, { jwtAuth: [] }]
    expect(operation('POST /iam/entities').security).toEqual([admin, token])
    expect(operation('POST /events/webhooks').security).toEqual([tenant, token])
    expect(operation('GET /wallets').security).toEqual([admin, tenant, token])
    expect(operation('GET /_system/health').security).toEqual([])
  })

  test('named bodies and replies are components', () => {
    const { requestBody, responses } = operation('POST /wallets')
    expect(requestBody).toEqual({
      required: true,
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/CreateWalletRequest' },
          example: { name: 'Acme' },
        },
      },
    })
    expect(responses['201']!.content!['application/json']!.schema).toEqual({
      $ref: '#/components/schemas/WalletDetail',
    })
    expect(operation('POST /iam/apikey-authentication').responses['201']).toEqual({ description: 'Success' })
    expect(document.components.schemas['WalletDetail']).toEqual({
      type: 'object',
      properties: {
        id: { type: 'string', format: 'uuid' },
        name: { type: 'string' },
        createdAt: { type: 'string', format: 'date-time' },
        updatedAt: { type: 'string', format: 'date-time' },
        movedAt: { type: 'string', format: 'date-time', description: expect.any(String) },
      },
      required: ['id', 'name', 'createdAt', 'updatedAt'],
    })
  })

  test('paging is described with its limits and orders', () => {
    const parameter = (name: string, schema: object) => ({
      name,
      in: 'query',
      required: false,
      description: expect.any(String),
      schema,
    })
    expect(operation('GET /wallets').parameters).toEqual([
      parameter('offset', { type: 'integer', minimum: 0 }),
      parameter('limit', { type: 'integer', minimum: 1, maximum: 1000 }),
      parameter('order', { type: 'string', enum: ['asc', 'desc'] }),
    ])
  })
})

test('bodies are described as input, and an optional body is not required', () => {
  const Body = z
    .object({ size: z.string().transform(Number), from: z.string().default('x') })
    .meta({ id: 'SizeForOpenApiTest' })
  const samples = [
    route('POST /a', { ...anyone, body: Body, reply: [200, null] }, () => Promise.resolve()),
    route('POST /b', { ...anyone, body: Body.partial(), reply: [200, null] }, () => Promise.resolve()),
  ]
  const { paths, components } = openapi(samples, { version: '1.0.0', url: 'http://agent.example' })
  expect(components.schemas['SizeForOpenApiTest']).toMatchObject({
    properties: { size: { type: 'string' } },
    required: ['size'],
  })
  expect(paths['/a']).toMatchObject({ post: { requestBody: { required: true } } })
  expect(paths['/b']).toMatchObject({ post: { requestBody: { required: false } } })
})
