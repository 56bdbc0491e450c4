/** A printed code and a log-in: nobody prepares an offer, and everybody gets a credential of their own. */
import { expect, test } from 'vitest'
import { decodeJwtVc } from '../../../credentials/codecs/_verify.ts'
import { sharedAgent } from '../../../support/agent.ts'
import { untilEnd } from '../../../support/shared.ts'
import { publishSchema } from '../../../support/tenants.ts'
import { filled, openSource } from '../_claims-source.ts'
import { answer, newPkce, redeemAuthorized, redirectUri, sealedIn } from '../_authorization.ts'
import { addIssuer, prove, request } from '../_wallet.ts'
import { browse, useProvider } from './_browser.ts'
import { startIdentityProvider } from './_real-provider.ts'

const agent = await sharedAgent()
const tenant = await agent.newTenant('issuer')
const setup = await addIssuer(agent, tenant)
const { issuerId, issuingDID } = setup
const provider = await untilEnd(startIdentityProvider({ redirectUris: [`${setup.identifier}/log-in`] }))
await useProvider(setup, provider.url, { scope: 'openid profile' })

async function add(configurationId: string, properties: object, more: object = {}) {
  const schemaId = await publishSchema(tenant, issuingDID, {
    name: configurationId.toLowerCase(),
    properties,
    required: Object.keys(properties),
  })
  await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId },
    body: { configurationId, format: 'jwt_vc_json', schemaId, issuingDID, begin: 'log-in', ...more },
  })
}
await add('Badge', { name: { type: 'string' } })
await add('Numbered', { number: { type: 'integer' } })
const source = await untilEnd(openSource(filled({ department: 'Sales' })))
await tenant.call('POST /oid4vci/issuers/{issuerId}/secret', { path: { issuerId } })
const sourced = { name: { type: 'string' }, department: { type: 'string' } }
await add('Sourced', sourced, { claimsSource: { url: source.url } })

/** The page after the log-in of an account, with the printed offer. */
async function enter(account: string, scope: string) {
  const printed = await fetch(`${setup.identifier}/offers/${scope}`, {
    headers: { accept: 'application/json' },
  })
  expect(await printed.json()).toMatchObject({
    credential_configuration_ids: [scope],
    grants: { authorization_code: {} },
  })
  provider.state.account = account
  const { verifier, challenge } = newPkce()
  const parameters = {
    response_type: 'code',
    client_id: 'wallet',
    redirect_uri: redirectUri,
    scope,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }
  return { verifier, page: await browse(setup, parameters) }
}

const records = async () =>
  (await tenant.call('GET /issue-credentials/records', { query: { limit: 100 } })).contents

/** The claims of the credential that a person gets who accepts. */
async function take({ page, verifier }: Awaited<ReturnType<typeof enter>>, configuration: string) {
  const { location } = await answer(setup, { request: sealedIn(page), decision: 'accept' })
  const code = location!.searchParams.get('code')!
  const { body: token } = await redeemAuthorized(setup, { code, verifier })
  const body = { credential_configuration_id: configuration, proofs: { jwt: [await prove(setup)] } }
  const { body: reply } = await request(setup, { token: token.access_token, body })
  return decodeJwtVc(reply.credentials[0].credential).claims
}

test('ten strangers get a credential each, with their own claims', async () => {
  for (let number = 0; number < 10; number++) {
    const entered = await enter(`stranger-${number}`, 'Badge')
    expect(entered.page.text).toContain(`Person stranger-${number}`)
    expect(await records()).toHaveLength(number)
    expect(await take(entered, 'Badge')).toMatchObject({ name: `Person stranger-${number}` })
  }
})

test('a claims source is told who has logged in, once for each person, and adds what the log-in does not know', async () => {
  for (const account of ['carol', 'dave']) {
    const entered = await enter(account, 'Sourced')
    expect(entered.page.status).toBe(200)
    const asked = source.asked().length
    expect(await take(entered, 'Sourced')).toMatchObject({ name: `Person ${account}`, department: 'Sales' })
    expect(source.asked().slice(asked)).toMatchObject([
      {
        identity: { from: 'log-in', iss: provider.url, sub: account, claims: { name: `Person ${account}` } },
        wanted: [['department']],
      },
    ])
  }
})

test('a person whose claims do not make the credential is told so before the consent', async () => {
  const before = await records()
  const { page } = await enter('alice', 'Numbered')
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('$.number: is missing')])
  expect(await records()).toHaveLength(before.length)
})
