/** Offers and requests in one step: what is missing is made, what is there is taken, several are named. */
import { decodeProtectedHeader, importJWK, type JWK, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { decodeSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { templateNames, getTemplate } from '../../../src/definitions/templates/index.ts'
import { sharedAgent } from '../../support/agent.ts'
import { untilEnd } from '../../support/shared.ts'
import { newDid, refusal, type Tenant } from '../../support/tenants.ts'
import { takeCredentials } from './_foreign-wallet.ts'
import { readOffer } from './_wallet.ts'

const agent = await untilEnd(sharedAgent())
type Body = Parameters<typeof offer>[1]
const offer = (
  { call }: Tenant,
  body: {
    claims: Record<string, any>
    type?: string
    template?: any
    issuerId?: string
    [name: string]: any
  },
  headers = {},
) => call('POST /oid4vci/credential-offers', { body, headers })
const byType = ({ call }: Tenant, body: { type: string; claims?: string[][]; issuers?: any; did?: string }) =>
  call('POST /present-proof/presentations/openid4vp/by-type', { body, headers: {} })
const count = async ({ call }: Tenant) => {
  const query = { limit: 100, offset: 0 }
  const { contents: issuers } = await call('GET /oid4vci/issuers', { query })
  const { contents: dids } = await call('GET /did-registrar/dids', { query })
  const { contents: schemas } = await call('GET /schema-registry/schemas', { query })
  return { issuers: issuers.length, dids: dids.length, schemas: schemas.length }
}
const person: Body = { type: 'Person', claims: { givenName: 'Alice', age: 42, address: { city: 'Bonn' } } }

test('an empty wallet gets a DID, an issuer, a schema and a configuration, which the next offer uses', async () => {
  const tenant = await agent.newTenant('Acme')
  const first = await offer(tenant, person)
  expect(first.made.map(({ kind, name }) => [kind, name])).toEqual([
    ['did', undefined],
    ['issuer', 'Acme'],
    ['schema', 'Person'],
    ['configuration', 'Person'],
  ])
  expect(first.issuingDID).toMatch(/^did:jwk:/)
  const [credential] = await takeCredentials({ credentialOffer: first.credentialOffer }, ['ES256'])
  expect(decodeSdJwt(credential!)).toMatchObject({ claims: person.claims, issuerDid: first.issuingDID })
  for (const body of [person, { ...person, type: 'person' }, { claims: person.claims }]) {
    const next = await offer(tenant, body)
    expect(next).toMatchObject({ made: [], issuerId: first.issuerId, credentialConfigurationId: 'Person' })
  }
  const { display, credential_configurations_supported: all } = (await tenant.call(
    'GET /oid4vci/issuers/{issuerId}/.well-known/openid-credential-issuer',
    { path: { issuerId: first.issuerId } },
  )) as any
  expect([display, all.Person.credential_metadata]).toMatchObject([
    [{ name: 'Acme' }],
    { display: [{ name: 'Person' }], claims: [{ display: [{ name: 'Given name' }] }, {}, {}] },
  ])
  expect(await count(tenant)).toEqual({ issuers: 1, dids: 1, schemas: 1 })
})

test('an agent with a public https URL makes a did:web, with a key for credentials and one that signs requests', async () => {
  const open = await untilEnd(sharedAgent({ REST_SERVICE_URL: 'https://agent.acme.com/base' }))
  const tenant = await open.newTenant('public')
  const { made, issuingDID: did } = await offer(tenant, person)
  expect(made[0]).toEqual({ kind: 'did', id: expect.stringMatching(/^did:web:agent\.acme\.com:base:web:/) })
  expect(did).toBe(made[0]!.id)
  const get = (url: string) => open.send('GET', new URL(url).pathname.slice('/base'.length))
  const document = (await (await get(`https://${did!.split(':').slice(2).join('/')}/did.json`)).json()) as {
    verificationMethod: { id: string; publicKeyJwk: JWK }[]
  }
  expect(document).toMatchObject({
    id: did,
    authentication: [`${did}#authentication`],
    assertionMethod: [`${did}#assertionMethod`],
  })

  const { chosen, openid4vp } = await byType(tenant, { type: 'Person' })
  expect(chosen).toMatchObject({ did, issuers: [did], madeDid: false })
  const { searchParams } = new URL(openid4vp!.authorizationRequest)
  expect(searchParams.get('client_id')).toBe(`decentralized_identifier:${did}`)
  const jwt = await (await get(searchParams.get('request_uri')!)).text()
  const { kid, alg } = decodeProtectedHeader(jwt)
  expect([kid, alg]).toEqual([`${did}#authentication`, 'ES256'])
  const { publicKeyJwk } = document.verificationMethod.find(({ id }) => id === kid)!
  expect((await jwtVerify(jwt, await importJWK(publicKeyJwk, 'ES256'))).payload).toMatchObject({
    client_id: `decentralized_identifier:${did}`,
  })
})

test('two offers at once make one issuer, and a repeated request makes one offer', async () => {
  const tenant = await agent.newTenant('twice')
  const both = await Promise.all([offer(tenant, person), offer(tenant, person)])
  expect(both.map(({ made }) => made.length).toSorted((a, b) => a - b)).toEqual([0, 4])
  const headers = { 'idempotency-key': 'one' }
  const [one, again] = [await offer(tenant, person, headers), await offer(tenant, person, headers)]
  expect(again).toEqual(one)
  expect(await count(tenant)).toEqual({ issuers: 1, dids: 1, schemas: 1 })
})

test.each(templateNames)('the template %s is offered with its labels and colours', async (template) => {
  const tenant = await agent.newTenant(`of-${template}`)
  const { title, example, display } = getTemplate(template)
  const { credentialConfigurationId: id, issuerId, made } = await offer(tenant, { template, claims: example })
  expect(made).toContainEqual({ kind: 'configuration', id, name: title })
  const path = { issuerId, credentialConfigId: id }
  const configuration = await tenant.call(
    'GET /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}',
    { path },
  )
  expect(configuration.display).toEqual([{ name: title, ...display }])
  expect((await offer(tenant, { template, claims: example })).made).toEqual([])
})

test('an offer that fails leaves nothing behind but a DID, which the problem names', async () => {
  const tenant = await agent.newTenant('failing')
  const wrong = await refusal(offer(tenant, { template: 'employee', claims: { name: 'Alice' } }))
  expect(wrong.detail).toMatch(/givenName: is missing.* The DID did:jwk:\S+ was made for it, and stays/s)
  expect(await count(tenant)).toEqual({ issuers: 0, dids: 1, schemas: 0 })
  expect((await refusal(offer(tenant, { claims: { a: null } }))).detail).toMatch(
    /^claims\.a: null has no type/,
  )
  expect(await count(tenant)).toEqual({ issuers: 0, dids: 1, schemas: 0 })
  await offer(tenant, person)
  const other = await refusal(offer(tenant, { claims: { nom: 'Alice' } }))
  expect(other.detail).toContain('name another type to offer other claims.')
})

test('of several issuers, credentials or DIDs, the problem names each', async () => {
  const tenant = await agent.newTenant('several')
  const { issuerId, issuingDID } = await offer(tenant, person)
  await offer(tenant, { type: 'Badge', claims: { number: 7 } })
  expect((await refusal(offer(tenant, { claims: { number: 7 } }))).detail).toBe(
    'credentialConfigurationId: the wallet has several credentials. Name one: Person, Badge.',
  )
  const { did } = await newDid(tenant, 'assertionMethod')
  // The configuration keeps its DID; a new one has to choose.
  expect((await offer(tenant, person)).issuingDID).toBe(issuingDID)
  const dids = await refusal(offer(tenant, { type: 'Other', claims: { a: 'b' } }))
  expect(dids.detail).toContain(`issuingDID: the wallet has several published DIDs that can sign. Name one: `)
  expect(dids.detail).toContain(did)
  const { id } = await tenant.call('POST /oid4vci/issuers', { body: { display: { name: 'Second' } } })
  expect((await refusal(offer(tenant, person))).detail).toBe(
    `issuerId: the wallet has several issuers. Name one: ${issuerId} (several), ${id} (Second).`,
  )
  expect(await offer(tenant, { ...person, issuerId })).toMatchObject({ issuerId, made: [] })
})

test('the format and the id of a type', async () => {
  const tenant = await agent.newTenant('formats')
  const made = await offer(tenant, { type: 'Ausweis für Gäste', format: 'jwt_vc_json', claims: { a: 'b' } })
  expect(made.credentialConfigurationId).toBe('Ausweis-fur-Gaste')
  const other = await refusal(
    offer(tenant, { type: 'ausweis für gäste', format: 'dc+sd-jwt', claims: { a: 'b' } }),
  )
  expect(other.detail).toMatch(/^format: the configuration .* has the format jwt_vc_json/)
  expect((await readOffer(made.credentialOffer)).credential_configuration_ids).toHaveLength(1)
})

test('a request for an own type trusts its issuer, and is signed by its DID', async () => {
  const tenant = await agent.newTenant('verifier')
  const { issuingDID } = await offer(tenant, person)
  const made = await byType(tenant, { type: 'person', claims: [['givenName'], ['address', 'city']] })
  expect(made.chosen).toMatchObject({
    type: 'Person',
    issuers: [issuingDID],
    did: issuingDID,
    madeDid: false,
  })
  expect(made.openid4vp).toMatchObject({
    dcqlQuery: { credentials: [{ claims: [{ path: ['givenName'] }, { path: ['address', 'city'] }] }] },
  })
  expect((await refusal(byType(tenant, { type: 'Person', claims: [['nom']] }))).detail).toBe(
    'claims: Person has no claim nom. It has givenName, age, address.',
  )
  expect((await refusal(byType(tenant, { type: 'Nothing' }))).detail).toBe(
    'type: Nothing is not a type that this wallet issues or holds. There are: Person (Person).',
  )
})

test('a request without claims asks for the mandatory ones, which each credential has, or else for all', async () => {
  const tenant = await agent.newTenant('minimal')
  await offer(tenant, { template: 'ticket', claims: getTemplate('ticket').example })
  const asked = async (type: string) => {
    const { openid4vp } = await byType(tenant, { type })
    return (openid4vp!.dcqlQuery as any).credentials[0].claims.map(({ path }: { path: string[] }) => path[0])
  }
  const { claims } = (await tenant.call('GET /credential-types')).contents[0]!
  expect(claims.some(({ mandatory }) => !mandatory)).toBe(true)
  expect(await asked('ticket')).toEqual(claims.filter(({ mandatory }) => mandatory).map(({ name }) => name))
  await offer(tenant, person)
  expect(await asked('person')).toEqual(['givenName', 'age', 'address'])
})

test('a request for a type that the wallet only holds must say whom it trusts; its DID is made', async () => {
  const [issuer, holder] = [await agent.newTenant('issuing'), await agent.newTenant('holding')]
  const { credentialOffer, issuingDID } = await offer(issuer, person)
  const { recordId } = await holder.call('POST /issue-credentials/records/openid4vci', {
    body: { credentialOffer },
  })
  await holder.call('POST /issue-credentials/records/{recordId}/accept-offer', {
    path: { recordId },
    body: {},
  })
  await expect
    .poll(async () => (await holder.call('GET /credential-types')).contents, { timeout: 20_000 })
    .toMatchObject([{ name: 'Person', heldFrom: issuingDID }])
  const vague = await refusal(byType(holder, { type: 'Person' }))
  expect(vague.detail).toContain(
    `On the command line: --trust-issuer ${issuingDID}, --trusted, or --any-issuer`,
  )
  const made = await byType(holder, { type: 'Person', issuers: [issuingDID] })
  // The key of the held credential is not a DID to sign requests with.
  expect(made.chosen).toMatchObject({ madeDid: true, did: expect.stringMatching(/^did:jwk:/) })
  expect(made.chosen.did).not.toBe(
    (await holder.call('GET /issue-credentials/records/{recordId}', { path: { recordId } })).subjectId,
  )
  expect((await byType(holder, { type: 'Person', issuers: 'any' })).chosen).toMatchObject({
    madeDid: false,
    did: made.chosen.did,
  })
})
