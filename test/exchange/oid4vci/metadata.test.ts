/** Metadata of issuers: at every path, and by the schemas of the OpenID Foundation. */
import { expect, test } from 'vitest'
import { ask } from '../../support/ask.ts'
import { faultsOf } from '../../daemon/_cloud-agent-bodies.ts'
import { publishSchema } from '../../support/tenants.ts'
import { faults } from './_schemas.ts'
import { offer, preAuthorizedGrant, readOffer, startIssuer } from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const setup = await untilEnd(startIssuer())

test('the metadata of an issuer is the same at the appended and at the inserted path, with and without base path', async () => {
  const { agent, issuerId, identifier } = setup
  const path = `/oid4vci/issuers/${issuerId}`
  const wellKnown = '/.well-known/openid-credential-issuer'
  const [first, ...others] = await Promise.all(
    [
      `${path}${wellKnown}`,
      `${wellKnown}${path}`,
      `/cloud-agent${path}${wellKnown}`,
      `${wellKnown}/cloud-agent${path}`,
    ].map((target) => ask(agent, `GET ${target}`)),
  )
  expect(first!.status).toBe(200)
  expect(first!.headers.get('content-type')).toContain('application/json')
  for (const { body } of others) expect(body).toEqual(first!.body)
  expect(faults('credential_issuer_metadata-1_0', first!.body)).toEqual([])
  expect(first!.body).toMatchObject({
    credential_issuer: identifier,
    credential_endpoint: `${identifier}/credentials`,
    nonce_endpoint: `${identifier}/nonce`,
    credential_configurations_supported: {
      Person: {
        format: 'jwt_vc_json',
        scope: 'Person',
        credential_definition: { type: ['VerifiableCredential'] },
        credential_metadata: { claims: [{ path: ['credentialSubject', 'name'], mandatory: true }] },
      },
    },
  })
  expect(first!.body.authorization_servers).toBeUndefined()
  const operation = 'GET /oid4vci/issuers/{issuerId}/.well-known/openid-credential-issuer'
  expect(faultsOf(operation, first!.body)).toEqual([])
})

test('the built-in authorization server has metadata', async () => {
  const { agent, issuerId, identifier } = setup
  const path = `/oid4vci/issuers/${issuerId}`
  const { body } = await ask(agent, `GET /.well-known/oauth-authorization-server${path}`)
  const appended = await ask(agent, `GET ${path}/.well-known/oauth-authorization-server`)
  expect(appended.body).toEqual(body)
  expect(faults('oauth_authorization_server_metadata', body)).toEqual([])
  expect(body).toMatchObject({
    issuer: identifier,
    token_endpoint: `${identifier}/token`,
    authorization_endpoint: `${identifier}/authorize`,
    pushed_authorization_request_endpoint: `${identifier}/par`,
    grant_types_supported: ['authorization_code', preAuthorizedGrant],
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    dpop_signing_alg_values_supported: ['EdDSA', 'ES256K', 'ES256'],
    authorization_response_iss_parameter_supported: true,
    scopes_supported: ['Person'],
  })
})

test('an offer with the grant authorization_code has the form of the specification', async () => {
  const made = await readOffer((await offer(setup, { grant: 'authorization_code' })).credentialOffer)
  expect(faults('credential_offer-1_0', made)).toEqual([])
})

test('an issuer with an external authorization server names both, and its offers name the one that made the code', async () => {
  const { tenant, issuerId, identifier } = setup
  const url = 'https://login.example'
  const authorizationServer = { url, clientId: 'issuer', clientSecret: 'a-client-secret' }
  const path = { issuerId }
  await tenant.call('PATCH /oid4vci/issuers/{issuerId}', { path, body: { authorizationServer } })
  const target = `/oid4vci/issuers/${issuerId}/.well-known/openid-credential-issuer`
  const { body } = await ask(setup.agent, `GET ${target}`)
  expect(body.authorization_servers).toEqual([url, identifier])
  expect(faults('credential_issuer_metadata-1_0', body)).toEqual([])
  for (const [options, server] of [
    [{}, url],
    [{ grant: 'pre-authorized_code', txCode: true }, identifier],
  ] as const) {
    const made = await readOffer((await offer(setup, options)).credentialOffer)
    expect(Object.values(made.grants)).toMatchObject([{ authorization_server: server }])
    expect(faults('credential_offer-1_0', made)).toEqual([])
  }
  const wellKnown = `/.well-known/oauth-authorization-server/oid4vci/issuers/${issuerId}`
  const { body: ofServer } = await ask(setup.agent, `GET ${wellKnown}`)
  expect(ofServer.grant_types_supported).toEqual([preAuthorizedGrant])
  expect(ofServer.authorization_endpoint).toBeUndefined()
})

test('a configuration of SD-JWT VCs, and the type metadata that it names', async () => {
  const { agent, tenant, issuerId, issuingDID } = setup
  const schemaId = await publishSchema(tenant, issuingDID, { name: 'licence' })
  const body = { configurationId: 'Licence', format: 'dc+sd-jwt' as const, schemaId }
  const path = { issuerId }
  await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', { path, body })
  const target = `/.well-known/openid-credential-issuer/oid4vci/issuers/${issuerId}`
  const metadata = (await ask(agent, `GET ${target}`)).body
  expect(faults('credential_issuer_metadata-1_0', metadata)).toEqual([])
  const { vct } = metadata.credential_configurations_supported.Licence
  const type = (await ask({ url: '' }, `GET ${vct}`)).body
  expect(faults('type_metadata', type)).toEqual([])
  expect(type.vct).toBe(vct)
})

test('claims have the titles of the schema; a schema without properties has no claims', async () => {
  const { agent, tenant, issuerId, issuingDID } = setup
  const titled = { properties: { name: { type: 'string', title: 'Full name' }, age: { type: 'integer' } } }
  for (const [configurationId, terms] of [
    ['Titled', titled],
    ['Empty', { properties: {} }],
  ] as const) {
    const schemaId = await publishSchema(tenant, issuingDID, { name: configurationId, ...terms })
    await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
      path: { issuerId },
      body: { configurationId, format: 'jwt_vc_json', schemaId },
    })
  }
  const target = `/.well-known/openid-credential-issuer/oid4vci/issuers/${issuerId}`
  const { body } = await ask(agent, `GET ${target}`)
  expect(faults('credential_issuer_metadata-1_0', body)).toEqual([])
  const { Titled, Empty } = body.credential_configurations_supported
  expect(Titled.credential_metadata.claims).toEqual([
    { path: ['credentialSubject', 'name'], mandatory: false, display: [{ name: 'Full name' }] },
    { path: ['credentialSubject', 'age'], mandatory: false },
  ])
  expect(Empty.credential_metadata).toBeUndefined()
})

test('an unknown issuer has no metadata', async () => {
  const id = '00000000-0000-4000-8000-000000000000'
  for (const name of ['openid-credential-issuer', 'oauth-authorization-server'])
    expect((await ask(setup.agent, `GET /.well-known/${name}/oid4vci/issuers/${id}`)).status).toBe(404)
})
