/** The setting `logIn` of an issuer: the OpenID provider where people log in. */
import { expect, test } from 'vitest'
import { sharedAgent } from '../../../support/agent.ts'
import { ask } from '../../../support/ask.ts'
import { refusal } from '../../../support/tenants.ts'
import { issuerClient } from '../_provider.ts'

const agent = await sharedAgent()
const tenant = await agent.newTenant('issuer')
const issuer = 'https://idp.example/realms/staff'
const client = { issuer, ...issuerClient }

async function create(logIn: object, more: object = {}) {
  const body = { logIn, ...more }
  return ask(agent, 'POST /oid4vci/issuers', { body, apiKey: tenant.apiKey })
}

const change = (issuerId: string, body: object) =>
  ask(agent, `PATCH /oid4vci/issuers/${issuerId}`, { body, apiKey: tenant.apiKey })

test('the provider of an issuer is set, changed and removed, and its secret is never shown', async () => {
  const { status, body: made } = await create({ ...client, scope: 'openid profile', maxAge: 600 })
  const redirectUri = `${agent.url}/oid4vci/issuers/${made.id}/log-in`
  const shown = { issuer, clientId: 'issuer', scope: 'openid profile', maxAge: 600, claimsFrom: 'id_token' }
  expect([status, made.logIn]).toEqual([201, { ...shown, redirectUri }])
  const listed = await tenant.call('GET /oid4vci/issuers', {})
  expect(listed.contents.find(({ id }) => id === made.id)!.logIn).toEqual({ ...shown, redirectUri })
  const rows = agent.agent.db.selectFrom('credential_issuer').selectAll().where('id', '=', made.id)
  const { log_in: stored } = await rows.executeTakeFirstOrThrow()
  expect(stored).toContain('"secret"')
  expect(stored).not.toContain(issuerClient.clientSecret)
  const changed = await change(made.id, {
    logIn: { acrValues: ['urn:high'], maxAge: null, claimsFrom: 'userinfo' },
  })
  const { maxAge: _removed, ...rest } = shown
  expect(changed.body.logIn).toEqual({
    ...rest,
    redirectUri,
    acrValues: ['urn:high'],
    claimsFrom: 'userinfo',
  })
  expect((await change(made.id, { display: { name: 'Acme' } })).body.logIn).toEqual(changed.body.logIn)
  expect((await change(made.id, { logIn: null })).body).not.toHaveProperty('logIn')
})

test('a key of the wallet replaces the secret, and a secret the key', async () => {
  const { id: keyId } = await tenant.call('POST /issuer-certificates/development', {
    body: { commonName: 'Acme', names: [{ type: 'uri', value: 'https://acme.example' }] },
  })
  const { body: made } = await create({ issuer, clientId: 'issuer', keyId })
  expect(made.logIn).toMatchObject({ keyId, clientId: 'issuer' })
  const bySecret = await change(made.id, { logIn: { clientSecret: 'another' } })
  expect(bySecret.body.logIn).not.toHaveProperty('keyId')
})

test.each([
  [{ clientId: 'issuer', clientSecret: 'secret' }, 'logIn.issuer'],
  [{ ...client, issuer: 'http://idp.example' }, 'logIn.issuer: is http'],
  [{ ...client, issuer: 'https://idp.example?realm=1' }, 'logIn.issuer: has a query'],
  [{ issuer, clientId: 'issuer' }, 'logIn: give the clientSecret or the keyId'],
  [
    { ...client, keyId: '00000000-0000-4000-8000-000000000000' },
    'logIn: clientSecret and keyId are both given',
  ],
  [{ issuer, clientId: 'issuer', keyId: '00000000-0000-4000-8000-000000000000' }, 'logIn.keyId: '],
  [{ ...client, scope: 'profile' }, 'logIn.scope: does not have openid'],
  [{ ...client, acrValues: ['two words'] }, 'logIn.acrValues.0: '],
  [{ ...client, acrValues: [] }, 'logIn.acrValues: '],
  [{ ...client, maxAge: -1 }, 'logIn.maxAge: '],
  [{ ...client, claimsFrom: 'elsewhere' }, 'logIn.claimsFrom: '],
])('the log-in %j is refused', async (logIn, reason) => {
  const { status, body } = await create(logIn)
  expect([status, body.detail]).toEqual([400, expect.stringContaining(reason)])
})

test('an issuer has a log-in or an external authorization server, not both', async () => {
  const authorizationServer = { url: 'https://login.example', ...issuerClient }
  const both = await create(client, { authorizationServer })
  expect([both.status, both.body.detail]).toEqual([400, expect.stringContaining('authorizationServer')])
  const { body: external } = await ask(agent, 'POST /oid4vci/issuers', {
    body: { authorizationServer },
    apiKey: tenant.apiKey,
  })
  expect((await change(external.id, { logIn: client })).status).toBe(400)
  const { body: made } = await create(client)
  expect((await change(made.id, { authorizationServer })).status).toBe(400)
})

test('a secret goes to the provider that it was given for', async () => {
  const { body: made } = await create(client)
  const moved = await change(made.id, { logIn: { issuer: 'https://thief.example' } })
  expect([moved.status, moved.body.detail]).toEqual([400, expect.stringContaining('clientSecret')])
  expect((await change(made.id, { logIn: { issuer } })).status).toBe(200)
  const { body: plain } = await ask(agent, 'POST /oid4vci/issuers', { body: {}, apiKey: tenant.apiKey })
  const half = await change(plain.id, { logIn: { clientSecret: 'secret' } })
  expect([half.status, half.body.detail]).toEqual([400, expect.stringContaining('logIn.issuer')])
})

test('another tenant cannot change it', async () => {
  const { body: made } = await create(client)
  const other = await agent.newTenant('other')
  const path = { issuerId: made.id }
  const refused = await refusal(
    other.call('PATCH /oid4vci/issuers/{issuerId}', { path, body: { logIn: null } }),
  )
  expect(refused.status).toBe(404)
})
