/** The schema registry over HTTP: endpoints, DID URLs, proofs of authorship, hostile schemas. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { nameUuid } from '../../../src/credentials/schemas/schema.ts'
import { sharedAgent, startAgent } from '../../support/agent.ts'
import { ask as askRaw } from '../../support/ask.ts'
import { withDetail } from '../../support/detail.ts'
import { newDid } from '../../support/tenants.ts'
import { untilEnd } from '../../support/shared.ts'

const type = 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json'
const schema = {
  $id: 'https://example.com/driving-license-1.0',
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  description: 'Driving License',
  type: 'object',
  properties: { emailAddress: { type: 'string', format: 'email' }, drivingClass: { type: 'integer' } },
  required: ['emailAddress'],
  additionalProperties: false,
}
const unknown = '00000000-0000-3000-8000-000000000000'

const agent = await untilEnd(startAgent())
const author = await agent.newTenant('author')
const other = await agent.newTenant('other')
const did = (await newDid(author, 'assertionMethod')).did

const input = (change: object = {}) => ({
  name: 'licence',
  version: '1.0.0',
  type,
  schema,
  tags: ['driving', 'id'],
  author: did,
  ...change,
})

/** Sends a request as the author, as `apiKey`, or with an empty key without credentials. */
async function ask(method: string, path: string, body?: unknown, apiKey = author.apiKey) {
  const { status, body: read } = await askRaw(agent, `${method} ${path}`, {
    body,
    apiKey: apiKey || undefined,
  })
  return { status, body: read }
}
const publish = async (change: object = {}, path = '/schema-registry/schemas') =>
  (await ask('POST', path, input(change))).body

describe('a schema', () => {
  test('is published with the name and version that it requires', async () => {
    const { status, body } = await ask(
      'POST',
      '/schema-registry/schemas',
      input({ description: 'For drivers' }),
    )
    expect(status).toBe(201)
    const { id, guid, authored, ...rest } = body
    expect(rest).toEqual({
      longId: `${did}/${id}?version=1.0.0`,
      name: 'licence',
      version: '1.0.0',
      tags: ['driving', 'id'],
      description: 'For drivers',
      type,
      schema,
      author: did,
      resolutionMethod: 'http',
      kind: 'CredentialSchema',
      self: `/schema-registry/schemas/${guid}`,
    })
    expect(guid).toBe(nameUuid(`${did}/${id}?version=1.0.0`))
    expect(id).toMatch(/^[0-9a-f]{8}-/)
    expect(new Date(authored).toISOString()).toBe(authored)
  })

  test('can be read without credentials, as a whole and its content alone', async () => {
    const made = await publish()
    expect(await ask('GET', `/schema-registry/schemas/${made['guid']}`, undefined, '')).toEqual({
      status: 200,
      body: made,
    })
    expect(await ask('GET', `/schema-registry/schemas/${made['guid']}/schema`, undefined, '')).toEqual({
      status: 200,
      body: schema,
    })
    expect((await ask('GET', `/schema-registry/schemas/${unknown}`, undefined, '')).status).toBe(404)
    expect((await ask('GET', `/schema-registry/schemas/${unknown}/schema`, undefined, '')).status).toBe(404)
    expect((await ask('GET', `/schema-registry/schemas/${made['id']}`, undefined, '')).status).toBe(404)
  })

  test('of each type is published', async () => {
    const context = { '@vocab': 'https://schema.org/' }
    const linked = await publish({
      type: 'http://www.w3.org/ns/json-ld#context',
      schema: { '@context': context, ...schema },
    })
    expect(linked['schema']).toEqual({ '@context': context, ...schema })
    const anonCreds = { name: 'id', version: '1.0', attrNames: ['name'], issuerId: did }
    expect((await publish({ type: 'AnoncredSchemaV1', schema: anonCreds }))['schema']).toEqual(anonCreds)
  })

  test.each<[string, object, number, string]>([
    ['without a name', { name: '' }, 400, 'name'],
    ['with a version that is none', { version: '1.0' }, 400, 'version'],
    ['with an empty description', { description: '' }, 400, 'description'],
    ['of another type', { type: 'x' }, 400, 'type'],
    ['without $schema', { schema: { ...schema, $schema: undefined } }, 400, 'schema.$schema'],
    [
      'with a wrong $schema',
      { schema: { ...schema, $schema: 'http://json-schema.org/draft-2020-12/schema#' } },
      400,
      'schema.$schema',
    ],
    ['with a keyword of its own', { schema: { ...schema, emissionFactor: 1 } }, 400, 'schema.emissionFactor'],
    ['of an author who is not a DID', { author: 'me' }, 400, 'author'],
    ['of an author of another method', { author: 'did:peer:2z6Mk' }, 400, 'author'],
    ['of an unknown author', { author: `did:prism:${'0'.repeat(64)}` }, 404, 'author'],
    ['with a proof that is none', { proof: {} }, 400, 'proof.type'],
  ])('%s is refused, and the field is named', async (_, change, status, field) => {
    const refused = await ask('POST', '/schema-registry/schemas', input(change))
    expect(refused.status).toBe(status)
    expect(refused.body['detail']).toContain(`${field}:`)
  })

  test('of another tenant’s author is refused', async () => {
    expect((await ask('POST', '/schema-registry/schemas', input(), other.apiKey)).status).toBe(404)
    expect((await ask('POST', '/schema-registry/schemas', input(), '')).status).toBe(401)
  })
})

describe('a new version', () => {
  test.each([
    ['today’s path', (id: string) => `/schema-registry/schemas/${id}`],
    ['the older path', (id: string) => `/schema-registry/${did}/${id}`],
    ['the older path, encoded', (id: string) => `/schema-registry/${encodeURIComponent(did)}/${id}`],
  ])('is listed at %s in SemVer order', async (_, path) => {
    const first = await publish({ version: '1.9.0' })
    const { status, body } = await ask('PUT', path(first['id']), input({ version: '1.10.0' }))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: first['id'],
      version: '1.10.0',
      guid: nameUuid(`${did}/${first['id']}?version=1.10.0`),
    })
    const again = await ask('PUT', path(first['id']), input({ version: '1.10.0' }))
    expect(again).toMatchObject({
      status: 400,
      body: { type: 'error:CredentialSchemaError:CredentialSchemaUpdateError' },
    })
    expect((await ask('PUT', path(first['id']), input({ version: '1.9.1' }))).status).toBe(400)
    expect((await ask('PUT', path(unknown), input({ version: '2.0.0' }))).status).toBe(404)
    expect((await ask('GET', `/schema-registry/schemas/${first['guid']}`)).body).toEqual(first)
  })

  test('at a path of another author is refused', async () => {
    const { id } = await publish()
    const refused = await ask(
      'PUT',
      `/schema-registry/did:prism:${'0'.repeat(64)}/${id}`,
      input({ version: '2.0.0' }),
    )
    expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining('author') } })
  })
})

describe('a list', () => {
  test('is of the caller’s wallet, by filters, page by page', async () => {
    const tenant = await agent.newTenant('lister')
    const own = (await newDid(tenant, 'assertionMethod')).did
    for (const name of ['one', 'two', 'three']) {
      await ask(
        'POST',
        '/schema-registry/schemas',
        input({ name, author: own, tags: [name.slice(0, 1)] }),
        tenant.apiKey,
      )
    }
    const names = async (query: string) => {
      const { status, body } = await ask('GET', `/schema-registry/schemas${query}`, undefined, tenant.apiKey)
      expect([status, body['kind'], body['pageOf'], body['self']]).toEqual([
        200,
        'CredentialSchemaPage',
        '/schema-registry/schemas',
        `/schema-registry/schemas${query}`,
      ])
      return {
        names: body['contents'].map(({ name }: { name: string }) => name),
        next: body['next'],
        previous: body['previous'],
      }
    }
    const all = { names: ['one', 'two', 'three'], next: undefined, previous: undefined }
    expect(await names('')).toEqual(all)
    expect(await names('?order=name')).toEqual(all)
    expect((await names('?name=two')).names).toEqual(['two'])
    expect((await names('?name=t%25')).names).toEqual(['two', 'three'])
    expect((await names('?tags=t')).names).toEqual(['two', 'three'])
    expect((await names(`?author=${own}&version=1.0.0&tags=o`)).names).toEqual(['one'])
    expect((await names(`?author=${did}`)).names).toEqual([])
    expect(await names('?limit=1&offset=1')).toEqual({
      names: ['two'],
      next: '/schema-registry/schemas?limit=1&offset=2',
      previous: '/schema-registry/schemas?limit=1&offset=0',
    })
    for (const query of ['?limit=0', '?offset=-1', '?name=%25a%25a%25a%25a%25'])
      expect((await ask('GET', `/schema-registry/schemas${query}`)).status).toBe(400)
    expect((await ask('GET', '/schema-registry/schemas', undefined, '')).status).toBe(401)
  })
})

describe('a schema under a DID URL', () => {
  const folder = '/schema-registry/schemas/did-url'
  const open = ({ resource }: Record<string, any>) =>
    JSON.parse(Buffer.from(resource, 'base64url').toString()) as Record<string, any>

  test('is published, read, listed and updated in envelopes', async () => {
    const tenant = await agent.newTenant('did-url')
    const own = (await newDid(tenant, 'assertionMethod')).did
    const call = (method: string, path: string, body?: object) => ask(method, path, body, tenant.apiKey)
    const made = await call('POST', folder, input({ author: own }))
    expect(made.status).toBe(201)
    const record = open(made.body)
    const { guid, id } = record as { guid: string; id: string }
    expect(record).toMatchObject({
      schema,
      resolutionMethod: 'did',
      self: `${folder}/${guid}`,
      guid: nameUuid(`${own}/${id}?version=1.0.0`),
    })
    const hash = (text: string) => createHash('sha256').update(text).digest('hex')
    expect(made.body['url']).toBe(
      `${own}?resourceService=agent-base-url&resourcePath=schema-registry/schemas/did-url/${guid}?resourceHash=${hash(made.body['resource'])}`,
    )
    expect(await ask('GET', `${folder}/${guid}`, undefined, '')).toEqual({ status: 200, body: made.body })
    const raw = await ask('GET', `${folder}/${guid}/schema`, undefined, '')
    expect(open(raw.body)).toEqual(schema)
    expect(raw.body['url']).toContain(`/${guid}/schema?resourceHash=${hash(raw.body['resource'])}`)
    expect(await call('GET', folder)).toEqual({
      status: 200,
      body: { self: folder, kind: 'CredentialSchemaDidUrlPage', pageOf: folder, contents: [made.body] },
    })
    const next = await call('PUT', `${folder}/${id}`, input({ author: own, version: '1.1.0' }))
    expect(next.status).toBe(200)
    expect(open(next.body)).toMatchObject({ id, version: '1.1.0' })
  })

  test('and one under an http URL are separate', async () => {
    const [http, { resource }] = [await publish(), await publish({}, folder)]
    const record = open({ resource })
    expect((await ask('GET', `${folder}/${http['guid']}`)).status).toBe(404)
    expect((await ask('GET', `/schema-registry/schemas/${record['guid']}`)).status).toBe(404)
    expect((await ask('PUT', `${folder}/${http['id']}`, input({ version: '2.0.0' }))).status).toBe(404)
    expect(
      (await ask('PUT', `/schema-registry/schemas/${record['id']}`, input({ version: '2.0.0' }))).status,
    ).toBe(404)
  })

  test('is found by its author’s DID, by this agent and by another', async () => {
    const another = await sharedAgent()
    const verifier = await another.newTenant()
    const services = [{ id: 'agent-base-url', type: 'LinkedResourceV1', serviceEndpoint: agent.url }]
    const { longFormDid } = await author.call('POST /did-registrar/dids', {
      body: { documentTemplate: { services } },
    })
    const { url } = await publish({ author: longFormDid }, folder)
    for (const { call } of [author, verifier]) {
      const { result } = await call('POST /verification/schema', {
        body: { schemaId: url, claims: { drivingClass: 'B' } },
      })
      expect(result).toEqual([
        { verification: 'SchemaCheck', success: true },
        { verification: 'AuthorshipVerification', success: false, detail: 'The schema is not signed.' },
        {
          verification: 'SubjectVerification',
          success: false,
          detail: expect.stringContaining('$.drivingClass: must be integer'),
        },
      ])
    }
    const offer = (claims: object) =>
      ask('POST', '/issue-credentials/credential-offers/invitation', {
        issuingDID: did,
        schemaId: url,
        claims,
      })
    expect(await offer({ emailAddress: 'unknown' })).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining('$.emailAddress') },
    })
    expect((await offer({ emailAddress: 'a@b.example' })).status).toBe(201)
    const forged = url.replace(/.$/, (last: string) => (last === '0' ? '1' : '0'))
    const refused = await ask('POST', '/verification/schema', { schemaId: forged })
    expect(refused).toMatchObject({ status: 422, body: { detail: expect.stringContaining('digest') } })
  })
})

describe('authorship', () => {
  const verify = async (body: object) =>
    (await author.call('POST /verification/schema', { body })) as Record<string, any>
  const authorship = async (body: object) =>
    (await verify(body))['result'][1] as { success: boolean; detail?: string }

  test.each([
    ['a published did:prism', 'secp256k1', (key: { did: string }) => key.did],
    ['one with an Ed25519 key', 'Ed25519', (key: { did: string }) => key.did],
    ['one in its long form', 'secp256k1', (key: { longFormDid: string }) => key.longFormDid],
  ] as const)('of %s is signed on demand and verified without credentials', async (_, curve, of) => {
    const own = of(await newDid(author, 'assertionMethod', curve))
    const signed = await publish({ author: own }, '/schema-registry/schemas?sign=true')
    expect(signed['proof']).toEqual({
      type: 'JsonWebSignature2020',
      created: expect.stringMatching(/Z$/),
      verificationMethod: `${own.split(':').slice(0, 3).join(':')}#key-1`,
      proofPurpose: 'assertionMethod',
      proofValue: expect.stringMatching(/^z/),
      domain: new URL(agent.url).host,
      jws: expect.stringMatching(/^[\w-]+\.\.[\w-]{86}$/),
    })
    const schemaId = `${agent.url}/schema-registry/schemas/${signed['guid']}`
    expect(await verify({ schemaId })).toEqual({
      schemaId,
      author: own,
      isSigned: true,
      result: [
        { verification: 'SchemaCheck', success: true },
        { verification: 'AuthorshipVerification', success: true },
      ],
    })
    expect(await authorship({ schema: signed })).toEqual({
      verification: 'AuthorshipVerification',
      success: true,
    })
    expect(await authorship({ schema: { ...signed, version: '1.0.1' } })).toMatchObject({
      success: false,
      detail: expect.stringMatching(/^proof\.jws:/),
    })
  })

  test('that is submitted with a schema is verified before it is published', async () => {
    const { proof } = await publish({}, '/schema-registry/schemas?sign=true')
    expect((await publish({ proof }))['proof']).toEqual(proof)
    expect((await publish({ proof, tags: [], description: 'said later' }))['proof']).toEqual(proof)
    for (const change of [
      { name: 'other' },
      { version: '2.0.0' },
      { schema: { ...schema, properties: {} } },
    ]) {
      const refused = await ask('POST', '/schema-registry/schemas', input({ proof, ...change }))
      expect(refused.body).toMatchObject({
        ...withDetail(400, 'proof.jws:'),
        type: 'error:CredentialSchemaError:InvalidSchema',
      })
    }
    expect((await ask('POST', '/schema-registry/schemas?sign=true', input({ proof }))).status).toBe(400)
  })

  test('of a new version is signed too', async () => {
    const { id } = await publish()
    const { body } = await ask('PUT', `/schema-registry/schemas/${id}?sign=true`, input({ version: '1.0.1' }))
    expect(await authorship({ schema: body })).toMatchObject({ success: true })
  })

  test('is refused for a schema without a proof, or without its record', async () => {
    const made = await publish()
    expect(made).not.toHaveProperty('proof')
    expect(await verify({ schema: made })).toMatchObject({ isSigned: false, author: did })
    const { name: _, ...nameless } = made
    const large = { ...made, schema: { enum: Array.from({ length: 6_000 }, () => 0) } }
    for (const [unsigned, detail] of [
      [made, /^The schema is not signed\.$/],
      [schema, /without its registry record/],
      [nameless, /^name:/],
      [large, /more than 5000 values/],
    ] as const)
      expect(await authorship({ schema: unsigned })).toMatchObject({
        success: false,
        detail: expect.stringMatching(detail),
      })
  })

  test('needs an assertion key, and a DID of an active wallet', async () => {
    const { did: bare } = await newDid(author, 'authentication')
    const refused = await ask('POST', '/schema-registry/schemas?sign=true', input({ author: bare }))
    expect(refused).toMatchObject({
      status: 400,
      body: { type: 'error:CredentialServiceError:KeyNotFoundInDID' },
    })
    expect((await ask('POST', '/schema-registry/schemas?sign=maybe', input())).status).toBe(400)
  })

  test('is verified for one schema, by its id or its content', async () => {
    for (const body of [{}, { schemaId: 'https://example.org', schema }]) {
      expect(await ask('POST', '/verification/schema', body)).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining('schemaId') },
      })
    }
    expect((await ask('POST', '/verification/schema', { schemaId: 'no url' })).status).toBe(422)
    expect((await ask('POST', '/verification/schema', { schema }, '')).status).toBe(401)
  })
})

describe('hostile schemas', () => {
  const property = (definition: object) => ({ schema: { ...schema, properties: { a: definition } } })
  test.each<[string, object, string]>([
    [
      'patterns of ten million states',
      {
        schema: {
          ...schema,
          properties: Object.fromEntries(
            Array.from({ length: 90 }, (_, i) => [
              `a${i}`,
              { type: 'string', pattern: `${i}${'a{1000}'.repeat(140)}` },
            ]),
          ),
        },
      },
      'takes too much time or memory to compile',
    ],
    [
      'a back-reference',
      property({ type: 'string', pattern: '(a)\\1' }),
      'the pattern (a)\\1 cannot be used',
    ],
    ['deep nesting', { schema: JSON.parse(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`) }, 'schema.$schema:'],
    ['__proto__', JSON.parse('{"schema":{"properties":{"__proto__":{"type":"string"}}}}'), 'named __proto__'],
  ])('with %s are refused with the reason', async (_, change, reason) => {
    const refused = await ask('POST', '/schema-registry/schemas', input(change))
    expect(refused.status).toBe(400)
    expect(refused.body['detail']).toContain(reason)
  })

  test('with names of the prototype are schemas like any others', async () => {
    const claims = {
      schema: { ...schema, properties: {}, required: ['constructor'], additionalProperties: true },
      claims: {},
    }
    const { result } = await author.call('POST /verification/schema', { body: claims })
    expect(result[2]).toMatchObject({
      success: false,
      detail: expect.stringContaining('$.constructor: is missing'),
    })
  })

  test('do not block others: the daemon answers while one is compiled', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 290 }, (_, i) => [`p${i}`, { type: 'string', format: 'email', minLength: 1 }]),
    )
    const done: boolean[] = []
    const published = publish({ schema: { ...schema, properties: many, required: [] } }).finally(() =>
      done.push(true),
    )
    let answers = 0
    for (; done.length === 0; answers++) expect((await agent.send('GET', '/_system/health')).status).toBe(200)
    expect(await published).toHaveProperty('guid')
    expect(answers).toBeGreaterThan(3)
  })
})
