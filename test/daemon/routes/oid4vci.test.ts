/** `/oid4vci`: issuers and credential configurations of a tenant. */
import { expect, test } from 'vitest'
import { startAgent } from '../../support/agent.ts'
import { ask } from '../../support/ask.ts'
import { newDid, publishSchema, refusal } from '../../support/tenants.ts'
import { untilEnd } from '../../support/shared.ts'

const agent = await untilEnd(startAgent())
const tenant = await agent.newTenant('issuer')
const other = await agent.newTenant('other')
const { did: author } = await newDid(tenant, 'assertionMethod')
const schemaId = await publishSchema(tenant, author)

const server = { url: 'https://login.example/realms/a', clientId: 'issuer', clientSecret: 'a-client-secret' }
const noId = '00000000-0000-4000-8000-000000000000'
const configurationsOf = 'POST /oid4vci/issuers/{issuerId}/credential-configurations'
const oneOf = '/oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}'
const newIssuer = (by = tenant) => by.call('POST /oid4vci/issuers', { body: {} })
const send = (request: string, body: unknown) => ask(agent, request, { body, apiKey: tenant.apiKey })

test('an issuer is created with its authorization server, listed, changed and deleted', async () => {
  const id = 'f47ac10b-58cc-4372-a567-0e02b2c3d479'
  const call = other.call
  const body = { id, authorizationServer: server }
  const made = await call('POST /oid4vci/issuers', { body })
  expect(made).toEqual({ id, authorizationServerUrl: server.url })
  expect((await call('GET /oid4vci/issuers', {})).contents).toEqual([made])
  expect((await refusal(tenant.call('POST /oid4vci/issuers', { body }))).status).toBe(409)
  const url = 'https://sign-in.example'
  const path = { issuerId: id }
  const changed = await call('PATCH /oid4vci/issuers/{issuerId}', {
    path,
    body: { authorizationServer: { url } },
  })
  expect(changed).toEqual({ id, authorizationServerUrl: url })
  const stored = await agent.agent.db
    .selectFrom('credential_issuer')
    .selectAll()
    .where('id', '=', id)
    .execute()
  expect(JSON.stringify(stored)).not.toContain(server.clientSecret)
  await call('DELETE /oid4vci/issuers/{issuerId}', { path })
  expect((await refusal(call('DELETE /oid4vci/issuers/{issuerId}', { path }))).status).toBe(404)
  expect((await call('GET /oid4vci/issuers', {})).contents).toEqual([])
})

test('an issuer without an authorization server is authorized by the agent', async () => {
  const { id, authorizationServerUrl } = await newIssuer()
  expect(authorizationServerUrl).toBe(`${agent.url}/oid4vci/issuers/${id}`)
  const path = { issuerId: id }
  const half = { authorizationServer: { url: server.url } }
  const refused = await refusal(tenant.call('PATCH /oid4vci/issuers/{issuerId}', { path, body: half }))
  expect(refused).toMatchObject({ status: 400, detail: expect.stringContaining('clientSecret') })
  const changed = await tenant.call('PATCH /oid4vci/issuers/{issuerId}', {
    path,
    body: { authorizationServer: server },
  })
  expect(changed.authorizationServerUrl).toBe(server.url)
})

test.each([
  [{ authorizationServer: { ...server, url: '/realms/a' } }, "Relative URL '/realms/a' is not allowed"],
  [{ authorizationServer: { ...server, url: 'ftp://login.example' } }, 'authorizationServer.url'],
  [{ authorizationServer: { url: server.url } }, 'authorizationServer.clientId'],
  [{ id: 'one', authorizationServer: server }, 'id'],
])('an issuer of %j is refused', async (body, reason) => {
  const { status, body: problem } = await send('POST /oid4vci/issuers', body)
  expect([status, problem.detail]).toEqual([400, expect.stringContaining(reason)])
})

test('a configuration is added, read, listed and removed', async () => {
  const { id: issuerId } = await newIssuer()
  const body = { configurationId: 'Person', format: 'jwt_vc_json' as const, schemaId }
  const made = await tenant.call(configurationsOf, { path: { issuerId }, body })
  expect(made).toEqual({ ...body, scope: 'Person', createdAt: expect.any(String) })
  const path = { issuerId, credentialConfigId: 'Person' }
  expect(await tenant.call(`GET ${oneOf}`, { path })).toEqual(made)
  const list = await tenant.call('GET /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId },
  })
  expect(list.contents).toEqual([made])
  expect((await refusal(tenant.call(configurationsOf, { path: { issuerId }, body }))).status).toBe(409)
  await tenant.call(`DELETE ${oneOf}`, { path })
  expect((await refusal(tenant.call(`GET ${oneOf}`, { path }))).status).toBe(404)
  expect((await refusal(tenant.call(`DELETE ${oneOf}`, { path }))).status).toBe(404)
})

test('a configuration that cannot be used is refused, with its reason', async () => {
  const { id } = await newIssuer()
  const good = { configurationId: 'Person', format: 'jwt_vc_json', schemaId }
  const rows: [string, unknown, number, string][] = [
    [noId, good, 404, 'There is no credential issuer'],
    [id, { ...good, format: 'anoncreds' }, 400, 'format'],
    [id, { ...good, configurationId: 'two words' }, 400, 'configurationId'],
    [id, { ...good, configurationId: undefined }, 400, 'configurationId'],
    [id, { ...good, schemaId: 'person' }, 400, 'schemaId'],
    [id, { ...good, schemaId: `${agent.url}/schema-registry/schemas/${noId}` }, 400, 'Invalid schemaId'],
  ]
  for (const [issuer, body, status, reason] of rows) {
    const refused = await send(`POST /oid4vci/issuers/${issuer}/credential-configurations`, body)
    expect([refused.status, refused.body.detail]).toEqual([status, expect.stringContaining(reason)])
  }
})

test('an issuer has a secret for its claims sources, which replaces the one before after a day', async () => {
  const { id: issuerId } = await newIssuer()
  const renew = (by = tenant) => by.call('POST /oid4vci/issuers/{issuerId}/secret', { path: { issuerId } })
  const first = await renew()
  expect(first).toEqual({ secret: expect.stringMatching(/^whsec_/) })
  const second = await renew()
  expect(second).toEqual({ secret: expect.any(String), previousUntil: expect.any(String) })
  expect(second.secret).not.toBe(first.secret)
  const hours = (Date.parse(second.previousUntil!) - Date.now()) / 3_600_000
  expect(hours).toBeGreaterThan(23)
  expect((await refusal(renew(other))).status).toBe(404)
  const all = await agent.agent.db.selectFrom('credential_issuer').selectAll().execute()
  for (const secret of [first.secret, second.secret]) expect(JSON.stringify(all)).not.toContain(secret)
})

test('the members of a configuration that are given are changed; null removes one', async () => {
  const { id: issuerId } = await newIssuer()
  const properties = { name: { type: 'string' }, age: { type: 'integer' } }
  const two = await publishSchema(tenant, author, { properties })
  const body = {
    configurationId: 'Person',
    format: 'dc+sd-jwt' as const,
    schemaId: two,
    alwaysDisclosed: ['age'],
  }
  const made = await tenant.call(configurationsOf, { path: { issuerId }, body })
  const path = { issuerId, credentialConfigId: 'Person' }
  const change = (changed: Record<string, any>) => tenant.call(`PATCH ${oneOf}`, { path, body: changed })
  const display = [{ name: 'Identity card', backgroundColor: '#003366' }]
  expect(await change({ display })).toEqual({ ...made, display })
  const { did: issuingDID } = await newDid(tenant, 'assertionMethod')
  expect(await change({ issuingDID, alwaysDisclosed: ['name'] })).toEqual({
    ...made,
    display,
    issuingDID,
    alwaysDisclosed: ['name'],
  })
  // A certificate replaces the DID.
  const names = [{ type: 'dns' as const, value: 'acme.example' }]
  const { id: issuerCertificateId } = await tenant.call('POST /issuer-certificates/development', {
    body: { commonName: 'Acme', names },
  })
  expect(await change({ issuerCertificateId, display: null })).toEqual({
    ...made,
    issuerCertificateId,
    alwaysDisclosed: ['name'],
  })
  expect(await tenant.call(`GET ${oneOf}`, { path })).toEqual(await change({}))
  expect(await change({ issuingDID })).not.toHaveProperty('issuerCertificateId')
})

test('a claims source is set with the secret of the issuer, changed and removed', async () => {
  const { id: issuerId } = await newIssuer()
  const claimsSource = { url: 'https://hr.example/claims', onFailure: 'fail' as const, keepClaims: false }
  const body = { configurationId: 'Person', format: 'jwt_vc_json' as const, schemaId, claimsSource }
  const add = () => tenant.call(configurationsOf, { path: { issuerId }, body })
  expect(await refusal(add())).toMatchObject({
    status: 400,
    detail: `claimsSource: the issuer has no secret that signs the requests to it. Make one first: agent issuer secret ${issuerId}`,
  })
  await tenant.call('POST /oid4vci/issuers/{issuerId}/secret', { path: { issuerId } })
  expect(await add()).toMatchObject({ claimsSource })
  const path = { issuerId, credentialConfigId: 'Person' }
  const change = (changed: any) => tenant.call(`PATCH ${oneOf}`, { path, body: changed })
  const usual = { url: 'http://127.0.0.1:9/claims' }
  expect(await change({ claimsSource: usual })).toMatchObject({
    claimsSource: { ...usual, onFailure: 'defer', keepClaims: true },
  })
  expect(await change({ display: null })).toHaveProperty('claimsSource')
  expect(await change({ claimsSource: null })).not.toHaveProperty('claimsSource')
  const open = await send(`PATCH /oid4vci/issuers/${issuerId}/credential-configurations/Person`, {
    claimsSource: { url: 'http://hr.example' },
  })
  expect([open.status, open.body.detail]).toEqual([
    400,
    'claimsSource.url: is http for a host that is not this machine; use https',
  ])
})

test('a change that cannot be used is refused, and changes nothing', async () => {
  const { id } = await newIssuer()
  const body = { configurationId: 'Person', format: 'jwt_vc_json' as const, schemaId }
  const made = await tenant.call(configurationsOf, { path: { issuerId: id }, body })
  const issuingDID = 'did:web:other.example'
  const rows: [string, string, unknown, number, string][] = [
    [noId, 'Person', {}, 404, 'There is no credential issuer'],
    [id, 'Other', {}, 404, 'There is no credential configuration'],
    [id, 'Person', { issuingDID }, 404, 'is not in this wallet'],
    [id, 'Person', { issuingDID, issuerCertificateId: noId }, 400, 'Leave one of them out'],
    [id, 'Person', { issuerCertificateId: noId }, 400, 'issuerCertificateId: credentials of the format'],
    [id, 'Person', { alwaysDisclosed: ['name'] }, 400, 'alwaysDisclosed: credentials of the format'],
    [id, 'Person', { keyAttestation: {} }, 400, 'keyAttestation: the issuer trusts no wallet provider'],
    [id, 'Person', { display: { name: '' } }, 400, 'display.name'],
  ]
  for (const [issuerId, configurationId, change, status, reason] of rows) {
    const target = `/oid4vci/issuers/${issuerId}/credential-configurations/${configurationId}`
    const refused = await send(`PATCH ${target}`, change)
    expect([refused.status, refused.body.detail]).toEqual([status, expect.stringContaining(reason)])
  }
  const path = { issuerId: id, credentialConfigId: 'Person' }
  expect(await tenant.call(`GET ${oneOf}`, { path })).toEqual(made)
})

test('the configurations of a deleted issuer are deleted with it', async () => {
  const { id: issuerId } = await newIssuer()
  const body = { configurationId: 'Person', format: 'jwt_vc_json' as const, schemaId }
  await tenant.call(configurationsOf, { path: { issuerId }, body })
  await tenant.call('DELETE /oid4vci/issuers/{issuerId}', { path: { issuerId } })
  await tenant.call('POST /oid4vci/issuers', { body: { id: issuerId } })
  const list = await tenant.call('GET /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId },
  })
  expect(list.contents).toEqual([])
})
