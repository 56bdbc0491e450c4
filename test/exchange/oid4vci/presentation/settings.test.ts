/** The setting `presentation` of a configuration, and the offers of such a one. */
import { expect, test } from 'vitest'
import { sharedAgent } from '../../../support/agent.ts'
import { ask } from '../../../support/ask.ts'
import { issuerClient } from '../_provider.ts'
import { addIssuer } from '../_wallet.ts'
import { configurePasses, presentation } from './_presentation.ts'

const agent = await sharedAgent()
const tenant = await agent.newTenant('issuer')
const setup = await addIssuer(agent, tenant)
const { issuerId } = setup
const common = await configurePasses(setup)
const match = [{ presented: ['family_name'], offered: ['family_name'] }]
let count = 0

const add = (members: object, of = issuerId) =>
  ask(agent, `POST /oid4vci/issuers/${of}/credential-configurations`, {
    body: { ...common, configurationId: `Pass-${count++}`, ...members },
    apiKey: tenant.apiKey,
  })

const change = (id: string, body: object) =>
  ask(agent, `PATCH /oid4vci/issuers/${issuerId}/credential-configurations/${id}`, {
    body,
    apiKey: tenant.apiKey,
  })

const offer = (credentialConfigurationId: string, more: object = {}) =>
  ask(agent, `POST /oid4vci/issuers/${issuerId}/credential-offers`, {
    body: { credentialConfigurationId, ...more },
    apiKey: tenant.apiKey,
  })

test('it is shown as it was set, replaced and removed', async () => {
  const { status, body } = await add({ presentation: { ...presentation, match }, begin: 'presentation' })
  expect([status, body.presentation, body.begin]).toEqual([201, { ...presentation, match }, 'presentation'])
  const id = body.configurationId as string
  // Without it, nobody could begin.
  expect(await change(id, { presentation: null })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('begin: the configuration has no presentation') },
  })
  const replaced = await change(id, { presentation: { ...presentation, issuers: 'known' }, begin: null })
  expect(replaced.body.presentation).toEqual({ ...presentation, issuers: 'known' })
  expect(replaced.body).not.toHaveProperty('begin')
  expect((await change(id, { presentation: null })).body).not.toHaveProperty('presentation')
})

const credential = presentation.dcqlQuery.credentials[0]!
const asking = (more: object) => ({
  presentation: { ...presentation, dcqlQuery: { credentials: [{ ...credential, ...more }] } },
})

test.each([
  [
    { presentation: { ...presentation, issuers: 'any' } },
    'presentation.issuers: must be "trusted" or "known"',
  ],
  [{ presentation: { dcqlQuery: presentation.dcqlQuery } }, 'presentation.issuers'],
  [asking({ require_cryptographic_holder_binding: false }), 'must not be false'],
  [asking({ multiple: true }), 'must not be true'],
  [asking({ format: 'ldp_vc' }), 'presentation.dcqlQuery.credentials.0.format'],
  [{ begin: 'presentation' }, 'begin: the configuration has no presentation'],
  [
    { begin: 'presentation', presentation: { ...presentation, issuers: 'known' } },
    'presentation.issuers: without an offer, the presentation alone decides',
  ],
  [{ begin: 'open', presentation }, 'begin: open lets any wallet'],
  [{ presentation: { ...presentation, did: 'did:web:other.example' } }, 'did:web:other.example'],
])('%j is refused', async (members, reason) => {
  const { status, body } = await add(members)
  expect([status, body.detail]).toEqual([
    expect.toSatisfy((code) => code === 400 || code === 404),
    expect.stringContaining(reason),
  ])
})

test('an issuer with an external authorization server has none', async () => {
  const body = { authorizationServer: { url: 'https://login.example', ...issuerClient } }
  const { id } = await tenant.call('POST /oid4vci/issuers', { body })
  expect((await add({ presentation }, id)).body.detail).toContain('presentation: the issuer has an external')
})

test('an offer has the grant authorization_code, the claims to match, and a code unless they match', async () => {
  const { body: plain } = await add({ presentation })
  const { body: matched } = await add({ presentation: { ...presentation, match } })
  const claims = { family_name: 'Adams' }
  const made = [
    await offer(plain.configurationId),
    await offer(matched.configurationId, { claims }),
    await offer(matched.configurationId, { claims, txCode: true }),
  ]
  for (const { body } of made) expect(body.credentialOffer).toContain('issuer_state')
  expect(made.map(({ body }) => 'txCode' in body)).toEqual([true, false, true])
  const grant = 'pre-authorized_code'
  expect((await offer(plain.configurationId, { grant })).body.detail).toContain('grant: the configuration')
  expect((await offer(matched.configurationId)).body.detail).toContain('claims.family_name: is missing')
})
