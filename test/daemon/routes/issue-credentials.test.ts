/** `/issue-credentials` over HTTP: statuses, fields of offers, refusals, fields of records, lists. */
import { describe, expect, test } from 'vitest'
import { CredentialData } from '../../../src/exchange/issuance/model.ts'
import { startAgent } from '../../support/agent.ts'
import { ask as askRaw } from '../../support/ask.ts'
import {
  connect,
  credentialIn,
  newDid,
  oobOf,
  until,
  publishSchema,
  type Tenant,
} from '../../support/tenants.ts'
import { untilEnd } from '../../support/shared.ts'

const unknown = '00000000-0000-4000-8000-000000000000'

const agent = await untilEnd(startAgent())
const [issuer, holder] = [await agent.newTenant('issuer'), await agent.newTenant('holder')]
const connectionId = (await connect(issuer, holder)).inviterConnectionId
const did = await newDid(issuer, 'assertionMethod', 'Ed25519')
const [ended, gone] = [await deactivated(issuer), await deactivated(holder)]
const subject = await newDid(holder, 'authentication')
const schemaId = await publishSchema(issuer, did.did, { required: ['name'] })

/** Publishes and deactivates a DID of a tenant. */
async function deactivated(tenant: Tenant): Promise<string> {
  const path = { didRef: (await newDid(tenant, 'assertionMethod')).did }
  await tenant.call('POST /did-registrar/dids/{didRef}/deactivations', { path })
  const ask = () => tenant.call('GET /did-registrar/dids/{didRef}', { path })
  await until('the deactivation', ask, (it) => it.deactivated === true)
  return path.didRef
}

const ask = (method: string, path: string, body?: unknown, { apiKey }: { apiKey: string } = issuer) =>
  askRaw(agent, `${method} /issue-credentials${path}`, { body, apiKey })
const offering = (change: object = {}) => ({
  connectionId,
  issuingDID: did.did,
  claims: { name: 'Alice' },
  ...change,
})
const offer = (change: object = {}) => ask('POST', '/credential-offers', offering(change))

/** Returns an offer as its holder has it. */
async function offered(change: object = {}) {
  const { thid, recordId: issuerRecordId } = (await offer(change)).body as { thid: string; recordId: string }
  return { ...(await credentialIn(holder.call, thid, 'OfferReceived')), issuerRecordId }
}
/** Fields that a record stores and does not return. */
const keptOf = (recordId: string) =>
  agent.agent.wallets.use(issuer.walletId, async ({ db }) => {
    const { data } = await db
      .selectFrom('record')
      .select('data')
      .where('id', '=', recordId)
      .executeTakeFirstOrThrow()
    return CredentialData.parse(JSON.parse(data))
  })

test.each([
  ['nothing', undefined],
  ['an empty body', ''],
  ['null', 'null'],
  ['an object', '{}'],
] as const)('each step answers with its status and its state; issuing accepts %s', async (_, nothing) => {
  const made = await offer()
  expect([made.status, made.body['protocolState']]).toEqual([201, 'OfferPending'])
  const { recordId } = await credentialIn(holder.call, made.body['thid'], 'OfferReceived')
  const accepted = await ask('POST', `/records/${recordId}/accept-offer`, { subjectId: subject.did }, holder)
  expect([accepted.status, accepted.body['protocolState']]).toEqual([200, 'RequestPending'])
  await credentialIn(issuer.call, made.body['thid'], 'RequestReceived')
  const issued = await ask('POST', `/records/${made.body['recordId']}/issue-credential`, nothing)
  expect([issued.status, issued.body['protocolState']]).toEqual([200, 'CredentialPending'])
  await credentialIn(holder.call, made.body['thid'], 'CredentialReceived')
  expect((await ask('GET', `/records/${recordId}`, undefined, holder)).status).toBe(200)
  expect((await ask('GET', '/records')).status).toBe(200)
})

test('an offer by invitation is created with 201 and accepted with 200', async () => {
  const { connectionId: _none, ...terms } = offering({ goalCode: 'issue-vc', goal: 'Your licence' })
  const made = await ask('POST', '/credential-offers/invitation', terms)
  const { invitation, myDid, protocolState, goal, goalCode } = made.body
  expect([made.status, protocolState, goal, goalCode]).toEqual([
    201,
    'InvitationGenerated',
    'Your licence',
    'issue-vc',
  ])
  expect(invitation).toEqual({
    id: made.body['thid'],
    type: 'https://didcomm.org/out-of-band/2.0/invitation',
    from: myDid,
    invitationUrl: expect.stringMatching(/\?_oob=/),
    shortUrl: expect.stringMatching(/\/i\?_oobid=[\w-]{16}$/),
  })
  const accepted = await ask(
    'POST',
    '/credential-offers/accept-invitation',
    { invitation: oobOf({ invitation }) },
    holder,
  )
  expect([accepted.status, accepted.body['protocolState'], accepted.body['thid']]).toEqual([
    200,
    'OfferReceived',
    made.body['thid'],
  ])
})

describe('an offer', () => {
  const properties = () => ({
    issuingDID: did.did,
    claims: { name: 'Bob' },
    credentialSchema: { id: schemaId, type: 'JsonSchemaValidator2018' },
  })
  test.each<[string, () => object, object]>([
    [
      'says little',
      () => ({}),
      { credentialFormat: 'JWT', automaticIssuance: false, claims: { name: 'Alice' } },
    ],
    ['has unknown members', () => ({ description: 'stray', awaitConfirmation: false }), {}],
    [
      'has null for optional fields',
      () => ({ schemaId: null, validityPeriod: null, issuingKid: null, automaticIssuance: null }),
      {},
    ],
    ['names one schema', () => ({ schemaId }), {}],
    ['names the schema alone', () => ({ schemaId: `${schemaId}/schema` }), {}],
    ['names several schemas', () => ({ schemaId: [schemaId, `${schemaId}/schema`] }), {}],
    ['names its issuer in long form', () => ({ issuingDID: did.longFormDid }), {}],
    ['names its key', () => ({ issuingKid: 'key-1' }), {}],
    ['ends', () => ({ validityPeriod: 3600.5 }), { validityPeriod: 3600.5 }],
    ['is issued by itself', () => ({ automaticIssuance: true }), { automaticIssuance: true }],
    ['has nested claims', () => ({ claims: { a: { b: [1, null] } } }), { claims: { a: { b: [1, null] } } }],
    ['is of an SD-JWT', () => ({ credentialFormat: 'SDJWT' }), { credentialFormat: 'SDJWT' }],
    [
      'has the current fields, with null for the deprecated ones',
      () => ({ claims: null, issuingDID: null, jwtVcPropertiesV1: properties() }),
      { credentialFormat: 'JWT', claims: { name: 'Bob' } },
    ],
    [
      'has the current fields for an SD-JWT',
      () => ({ claims: undefined, issuingDID: undefined, sdJwtVcPropertiesV1: properties() }),
      { credentialFormat: 'SDJWT', claims: { name: 'Bob' } },
    ],
  ])('that %s is created', async (_, change, expected) => {
    const { status, body } = await offer(change())
    expect({ status, body }).toMatchObject({ status: 201, body: { role: 'Issuer', ...expected } })
  })

  test.each([
    ['of its own', { domain: 'shop.example' }, 'shop.example'],
    ['of the configuration', {}, 'default-domain'],
  ])('is bound to a domain %s', async (_, change, domain) => {
    expect(await keptOf((await offer(change)).body['recordId'])).toMatchObject({
      domain,
      challenge: expect.any(String),
    })
  })

  test.each<[string, () => object, RegExp, number?]>([
    ['without claims', () => ({ claims: undefined }), /^claims: Missing request parameter/],
    ['with null for claims', () => ({ claims: null }), /^claims: Missing request parameter/],
    ['with claims that are not an object', () => ({ claims: 'x' }), /^claims: /],
    ['without an issuer', () => ({ issuingDID: undefined }), /^issuingDID: Missing/],
    ['of a deactivated issuer', () => ({ issuingDID: ended }), /deactivated/],
    ['with an unknown key', () => ({ issuingKid: 'key-9' }), /key-9/],
    ['without a connection', () => ({ connectionId: undefined }), /^connectionId: /],
    ['over no connection', () => ({ connectionId: 'x' }), /^connectionId: /],
    ['over an unknown connection', () => ({ connectionId: unknown }), /does not exist/, 404],
    ['of an unknown format', () => ({ credentialFormat: 'Paper' }), /^credentialFormat: /],
    [
      'of AnonCreds without a valid definition',
      () => ({ credentialFormat: 'AnonCreds', credentialDefinitionId: unknown }),
      /no credential definition/,
      404,
    ],
    [
      'with fields of another format',
      () => ({ sdJwtVcPropertiesV1: properties(), credentialFormat: 'JWT' }),
      /^sdJwtVcPropertiesV1: /,
    ],
    ['whose schema is not a URL', () => ({ schemaId: 'person' }), /^schemaId/],
    [
      'with an unknown schema',
      () => ({ schemaId: `${agent.url}/schema-registry/schemas/${unknown}` }),
      /schema/,
      422,
    ],
    ['that does not fit its schema', () => ({ schemaId, claims: { name: 1 } }), /\$\.name/, 422],
    ['that ends before it begins', () => ({ validityPeriod: 0 }), /^validityPeriod: /],
    ['that ends at a text', () => ({ validityPeriod: '1h' }), /^validityPeriod: /],
    ['that is issued maybe', () => ({ automaticIssuance: 'yes' }), /^automaticIssuance: /],
    ['with an empty domain', () => ({ domain: '' }), /^domain: /],
  ])('%s is refused, and creates nothing', async (_, change, detail, status = 400) => {
    const count = async () =>
      (await issuer.call('GET /issue-credentials/records', { query: { limit: 1_000 } })).contents.length
    const before = await count()
    const refused = await offer(change())
    expect(refused).toMatchObject({ status, body: { status, detail: expect.stringMatching(detail) } })
    expect(await count()).toBe(before)
  })

  test('by invitation has a goal of at most 255 characters', async () => {
    const { connectionId: _none, ...terms } = offering()
    for (const field of ['goal', 'goalCode']) {
      const refused = await ask('POST', '/credential-offers/invitation', {
        ...terms,
        [field]: 'x'.repeat(256),
      })
      expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringMatching(`^${field}: `) } })
    }
  })
})

describe('accepting', () => {
  test.each<[string, () => object, RegExp, number?]>([
    ['without a subject', () => ({}), /^subjectId: /],
    ['for a DID of another method', () => ({ subjectId: 'did:ion:abc' }), /did:prism/, 422],
    ['for a DID of another wallet', () => ({ subjectId: did.did }), /not in this wallet/, 404],
    ['for a DID that is deactivated', () => ({ subjectId: gone }), /deactivated/],
    ['with an unknown key', () => ({ subjectId: subject.did, keyId: 'auth-9' }), /auth-9/],
  ])('%s is refused, and the offer stays pending', async (_, body, detail, status = 400) => {
    const { recordId } = await offered()
    const refused = await ask('POST', `/records/${recordId}/accept-offer`, body(), holder)
    expect(refused).toMatchObject({ status, body: { status, detail: expect.stringMatching(detail) } })
    expect((await ask('GET', `/records/${recordId}`, undefined, holder)).body['protocolState']).toBe(
      'OfferReceived',
    )
  })

  test('uses the given long form DID and key', async () => {
    const { recordId } = await offered()
    const body = { subjectId: subject.longFormDid, keyId: 'key-1' }
    const accepted = await ask('POST', `/records/${recordId}/accept-offer`, body, holder)
    expect(accepted).toMatchObject({ status: 200, body: { subjectId: subject.longFormDid } })
  })
})

test.each([
  ['GET', ''],
  ['GET', '/credential'],
  ['POST', '/accept-offer'],
  ['POST', '/reject-offer'],
  ['POST', '/issue-credential'],
  ['DELETE', ''],
])('%s of an unknown record, or of another tenant’s: 404', async (method, end) => {
  const { recordId } = (await offer()).body
  const body = method === 'POST' ? { subjectId: subject.did } : undefined
  for (const [id, tenant] of [
    [unknown, issuer],
    ['no-uuid', issuer],
    [recordId, holder],
  ])
    expect(await ask(method, `/records/${id}${end}`, body, tenant)).toMatchObject({
      status: 404,
      body: { type: 'error:CredentialServiceError:RecordNotFound' },
    })
})

test('a record has exactly the documented fields on each side', async () => {
  const { recordId, issuerRecordId, thid } = await offered({
    validityPeriod: 60,
    automaticIssuance: true,
    schemaId,
  })
  await ask('POST', `/records/${recordId}/accept-offer`, { subjectId: subject.did }, holder)
  await credentialIn(holder.call, thid, 'CredentialReceived')
  await credentialIn(issuer.call, thid, 'CredentialSent')
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/)
  const token = expect.stringMatching(/^(?:[\w-]{4})*(?:[\w-]{2}==|[\w-]{3}=)?$/)
  const both = {
    thid,
    connectionId: expect.any(String),
    credentialFormat: 'JWT',
    claims: { name: 'Alice' },
    createdAt: time,
    updatedAt: time,
    credential: token,
    metaRetries: 5,
  }
  const issued = (await ask('GET', `/records/${issuerRecordId}`)).body
  expect(issued).toEqual({
    ...both,
    recordId: issuerRecordId,
    role: 'Issuer',
    protocolState: 'CredentialSent',
    validityPeriod: 60,
    automaticIssuance: true,
    issuingDID: did.did,
  })
  const held = (await ask('GET', `/records/${recordId}`, undefined, holder)).body
  expect(held).toEqual({
    ...both,
    recordId,
    role: 'Holder',
    protocolState: 'CredentialReceived',
    subjectId: subject.did,
  })
  expect(Buffer.from(held['credential'], 'base64').toString()).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
})

test('a list is paged, and filtered by thread', async () => {
  const tenant = await agent.newTenant('lister')
  const { did: own } = await newDid(tenant, 'assertionMethod')
  const made: { recordId: string; thid: string }[] = []
  for (const name of ['one', 'two', 'three']) {
    const body = { issuingDID: own, claims: { name } }
    made.push(await tenant.call('POST /issue-credentials/credential-offers/invitation', { body }))
  }
  const list = async (query: string) => (await ask('GET', `/records${query}`, undefined, tenant)).body
  const ids = ({ contents }: Record<string, any>) =>
    contents.map(({ recordId }: { recordId: string }) => recordId)
  const path = '/issue-credentials/records'
  const all = await list('')
  expect(ids(all)).toEqual(made.map(({ recordId }) => recordId))
  expect(all).toMatchObject({ self: path, kind: 'Collection', pageOf: path })
  expect(all).not.toHaveProperty('next')
  const second = await list('?limit=1&offset=1')
  expect([second['next'], second['previous'], ids(second)]).toEqual([
    `${path}?limit=1&offset=2`,
    `${path}?limit=1&offset=0`,
    [made[1]!.recordId],
  ])
  expect(ids(await list(`?thid=${made[2]!.thid}`))).toEqual([made[2]!.recordId])
  expect(await list('?thid=none')).toEqual({
    self: `${path}?thid=none`,
    kind: 'Collection',
    pageOf: `${path}?thid=none`,
    contents: [],
  })
  for (const query of ['?limit=0', '?limit=1001', '?offset=-1', '?limit=x'])
    expect((await ask('GET', `/records${query}`, undefined, tenant)).status).toBe(400)
})
