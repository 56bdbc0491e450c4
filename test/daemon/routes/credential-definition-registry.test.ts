/** The credential definition registry over HTTP: endpoints, DID URLs, and the state while a key is generated. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addDefinition, completeDefinition } from '../../../src/credentials/anoncreds/definitions.ts'
import type { CredentialDefinitionRecord } from '../../../src/credentials/anoncreds/definition.ts'
import type { ResolutionMethod } from '../../../src/credentials/schemas/schema.ts'
import { sharedAgent, startAgent, type TestAgent } from '../../support/agent.ts'
import { ask as askRaw } from '../../support/ask.ts'
import { made } from '../../credentials/anoncreds/_flow.ts'
import { newDid, type Tenant } from '../../support/tenants.ts'

const path = '/credential-definition-registry/definitions'
const unknown = '00000000-0000-3000-8000-000000000000'
const attrNames = ['Given Name', 'age', 'country']

let agent: TestAgent
let author: Tenant
let other: Tenant
let did: string
let schemaId: string

beforeAll(async () => {
  agent = await startAgent()
  author = await agent.newTenant('author')
  other = await agent.newTenant('other')
  did = (await newDid(author, 'assertionMethod')).did
  schemaId = await publishSchema({ name: 'id card', version: '1.0.0', attrNames, issuerId: did })
})
afterAll(() => agent[Symbol.asyncDispose]())

/** Publishes an AnonCreds schema. Returns its URL. */
async function publishSchema(schema: object, change: object = {}): Promise<string> {
  const body = { name: 'id card', version: '1.0.0', type: 'AnoncredSchemaV1', schema, author: did, ...change }
  const { guid } = (await ask('POST', '/schema-registry/schemas', body)).body
  return `${agent.url}/schema-registry/schemas/${guid}/schema`
}

const input = (change: object = {}) => ({
  name: 'id card',
  version: '1.0.0',
  tag: 'id',
  author: did,
  schemaId,
  signatureType: 'CL' as const,
  supportRevocation: false,
  ...change,
})

const ask = (
  method: string,
  target: string,
  body?: unknown,
  headers: Record<string, string> = { apikey: author.apiKey },
) => askRaw(agent, `${method} ${target}`, { body, headers })

/** Adds a definition with a prepared key to the registry. */
async function put(
  change: object = {},
  method: ResolutionMethod = 'http',
  walletId = author.walletId,
): Promise<CredentialDefinitionRecord> {
  const { db } = agent.agent
  return db.transaction().execute(async (tx) => {
    const record = await addDefinition(tx, walletId, input(change), attrNames, method)
    const definition = {
      schemaId,
      type: 'CL' as const,
      tag: record.tag,
      issuerId: record.author,
      value: { primary: made.primary },
    }
    await completeDefinition(
      tx,
      { walletId, guid: record.guid },
      { definition, keyCorrectnessProof: made.keyCorrectnessProof },
    )
    return { ...record, definition, keyCorrectnessProof: made.keyCorrectnessProof, state: 'READY' }
  })
}

describe('a definition', () => {
  test('without its key is listed, and its content is not there yet', async () => {
    const { db } = agent.agent
    const { guid } = await db
      .transaction()
      .execute((tx) => addDefinition(tx, author.walletId, input(), attrNames, 'http'))
    const { contents } = (await ask('GET', path)).body
    expect(contents).toEqual([expect.objectContaining({ guid, state: 'GENERATING' })])
    expect((await ask('GET', `${path}/${guid}`)).body).toEqual(contents[0])
    const early = await ask('GET', `${path}/${guid}/definition`)
    expect(early).toMatchObject({
      status: 503,
      body: { type: 'error:CredentialDefinitionError:NotGeneratedYet' },
    })
    expect(early.headers.get('retry-after')).toBe('2')
    await db.deleteFrom('credential_definition').where('guid', '=', guid).execute()
  })

  test('can be read without credentials, as a whole and its content alone', async () => {
    const record = await put()
    expect(await ask('GET', `${path}/${record.guid}`, undefined, {})).toMatchObject({
      status: 200,
      body: record,
    })
    const alone = await ask('GET', `${path}/${record.guid}/definition`, undefined, {
      'content-type': 'application/didcomm-encrypted+json',
    })
    expect(alone).toMatchObject({ status: 200, body: record.definition })
    expect(JSON.stringify((await ask('GET', `${path}/${record.guid}`)).body)).not.toContain(
      made.privateKey.value.p_key.p,
    )
  })

  test.each([
    `${path}/${unknown}`,
    `${path}/${unknown}/definition`,
    `${path}/did-url/${unknown}`,
    `${path}/did-url/${unknown}/definition`,
  ])('that does not exist is 404 at %s', async (target) => {
    const { status, body } = await ask('GET', target, undefined, {})
    expect([status, body['type']]).toEqual([404, 'error:CredentialDefinitionError:GuidNotFoundError'])
  })

  test.each<[string, () => object, number, string]>([
    ['without a name', () => ({ name: '' }), 400, 'name:'],
    ['with an empty description', () => ({ description: '' }), 400, 'description:'],
    ['with a version that is none', () => ({ version: '1.0' }), 400, 'version:'],
    ['without a tag', () => ({ tag: undefined }), 400, 'tag:'],
    ['of an author who is not a DID', () => ({ author: 'me' }), 400, 'author:'],
    ['of an author of another method', () => ({ author: 'did:peer:2z6Mk' }), 400, 'author:'],
    ['of an unknown author', () => ({ author: `did:prism:${'0'.repeat(64)}` }), 404, 'author:'],
    ['with another signature', () => ({ signatureType: 'BBS' }), 400, 'signatureType:'],
    [
      'that does not say whether it can be revoked',
      () => ({ supportRevocation: undefined }),
      400,
      'supportRevocation:',
    ],
    ['without a schema', () => ({ schemaId: undefined }), 400, 'schemaId:'],
    ['for an unknown schema', () => ({ schemaId: schemaId.replace(/[0-9a-f-]{36}/, unknown) }), 422, unknown],
    ['for what is not a URL', () => ({ schemaId: 'id card' }), 422, 'id card'],
    ['for the record of a schema', () => ({ schemaId: schemaId.replace(/\/schema$/, '') }), 400, 'schemaId:'],
  ])('%s is refused, and the field is named', async (_, change, status, named) => {
    const refused = await ask('POST', path, input(change()))
    expect([refused.status, refused.body['detail']]).toEqual([status, expect.stringContaining(named)])
    expect((await ask('POST', `${path}/did-url`, input(change()))).status).toBe(status)
  })

  test('for a JSON schema is refused', async () => {
    const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties: {} }
    const url = await publishSchema(schema, {
      type: 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json',
    })
    const refused = await ask('POST', path, input({ schemaId: url }))
    expect([refused.status, refused.body['detail']]).toEqual([
      422,
      expect.stringContaining('is not a usable AnonCreds schema'),
    ])
  })

  test('of another tenant’s author is refused', async () => {
    expect((await ask('POST', path, input(), { apikey: other.apiKey })).status).toBe(404)
    expect((await ask('POST', path, input(), {})).status).toBe(401)
  })
})

test('the number of definitions without keys per wallet is limited', async () => {
  const { db } = agent.agent
  const { walletId } = await agent.newTenant('greedy')
  const add = () => db.transaction().execute((tx) => addDefinition(tx, walletId, input(), attrNames, 'http'))
  for (let n = 0; n < 20; n++) await add()
  await expect(add()).rejects.toMatchObject({ status: 429, retryAfter: 60 })
  await db.deleteFrom('credential_definition').where('wallet_id', '=', walletId).execute()
})

test('definitions are listed by wallet, filter and page', async () => {
  const { walletId, apiKey } = await agent.newTenant('lister')
  const all = []
  for (const change of [{ name: 'a_b' }, { name: 'axb', tag: 'x' }, { version: '1.1.0' }])
    all.push(await put(change, 'http', walletId))
  await put({}, 'did', walletId)
  const list = async (query = '') => {
    const { status, body } = await ask('GET', `${path}${query}`, undefined, { apikey: apiKey })
    return {
      status,
      ...body,
      contents: (body['contents'] as { guid: string }[] | undefined)?.map(({ guid }) => guid),
    }
  }
  const guids = all.map(({ guid }) => guid)
  expect(await list()).toEqual({
    status: 200,
    kind: 'CredentialDefinitionPage',
    self: path,
    pageOf: path,
    contents: guids,
  })
  expect((await list('?name=a_b')).contents).toEqual([guids[0]])
  expect((await list('?name=a%25')).contents).toEqual([guids[0], guids[1]])
  expect((await list('?name=a_%25')).contents).toEqual([guids[0]])
  expect((await list('?tag=x&order=name')).contents).toEqual([guids[1]])
  expect((await list('?version=1.1.0')).contents).toEqual([guids[2]])
  expect((await list(`?author=${encodeURIComponent(did)}`)).contents).toEqual(guids)
  expect(await list('?author=did:prism:0&tag=x')).toMatchObject({ contents: [], pageOf: path })
  expect(await list('?limit=1&offset=1')).toMatchObject({
    contents: [guids[1]],
    next: `${path}?limit=1&offset=2`,
    previous: `${path}?limit=1&offset=0`,
  })
  for (const query of ['?limit=0', '?offset=-1', '?name=%25%25%25%25%25'])
    expect((await list(query)).status).toBe(400)
  expect((await ask('GET', path, undefined, {})).status).toBe(401)
})

describe('under a DID URL', () => {
  test('a definition is returned in an envelope with its digest', async () => {
    const record = await put({}, 'did')
    for (const [target, resource] of [
      [`did-url/${record.guid}`, record],
      [`did-url/${record.guid}/definition`, record.definition],
    ] as const) {
      const { status, body } = await ask('GET', `${path}/${target}`, undefined, {})
      expect(status).toBe(200)
      expect(JSON.parse(Buffer.from(body['resource'], 'base64url').toString())).toEqual(resource)
      const hash = createHash('sha256').update(body['resource']).digest('hex')
      const resourcePath = `credential-definition-registry/definitions/${target}`
      expect(body['url']).toBe(
        `${did}?resourceService=agent-base-url&resourcePath=${resourcePath}?resourceHash=${hash}`,
      )
    }
    expect(record.self).toBe(`${path}/did-url/${record.guid}`)
    expect((await ask('GET', `${path}/${record.guid}`)).status).toBe(404)
    const { body } = await ask('GET', `${path}/did-url?limit=1`)
    expect(body).toMatchObject({
      kind: 'CredentialDefinitionDidUrlPage',
      pageOf: `${path}/did-url`,
      contents: [{ url: expect.any(String) }],
    })
  })

  test('it is published like one under an http URL', async () => {
    const { walletId } = author
    const { status, headers, body } = await ask('POST', `${path}/did-url`, input(), {
      apikey: author.apiKey,
      prefer: 'respond-async',
    })
    expect([status, body['state'], body['resolutionMethod']]).toEqual([202, 'GENERATING', 'did'])
    expect(headers.get('preference-applied')).toBe('respond-async')
    await agent.agent.db
      .deleteFrom('credential_definition')
      .where('wallet_id', '=', walletId)
      .where('definition', 'is', null)
      .execute()
  })
})

test('nothing is published while AnonCreds is disabled, and published definitions stay readable', async () => {
  const off = await sharedAgent({ ENABLE_ANONCRED: 'false' })
  const tenant = await off.newTenant()
  const author = (await newDid(tenant, 'assertionMethod')).did
  for (const target of [path, `${path}/did-url`]) {
    const response = await off.send('POST', target, {
      headers: { apikey: tenant.apiKey },
      body: JSON.stringify(input({ author })),
    })
    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({
        type: 'BadRequest',
        title: 'BadRequest_FeatureDisabled',
        detail: expect.stringContaining('ENABLE_ANONCRED=true'),
      }),
    ])
  }
  expect((await off.send('GET', path, { headers: { apikey: tenant.apiKey } })).status).toBe(200)
})
