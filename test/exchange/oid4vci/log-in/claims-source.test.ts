/** A credential with claims of three origins: the offer, the log-in of the person, and the claims source. */
import { expect, test } from 'vitest'
import { decodeJwtVc } from '../../../credentials/codecs/_verify.ts'
import { startAgent } from '../../../support/agent.ts'
import { untilEnd } from '../../../support/shared.ts'
import { answer, newPkce, offered, redeemAuthorized, redirectUri, sealedIn } from '../_authorization.ts'
import { addSource, filled, openSource } from '../_claims-source.ts'
import { addIssuer, prove, recordOf, request } from '../_wallet.ts'
import { browse, useProvider } from './_browser.ts'
import { startIdentityProvider } from './_real-provider.ts'

const agent = await untilEnd(startAgent())
const setup = await addIssuer(agent, await agent.newTenant('issuer'))
const provider = await untilEnd(startIdentityProvider({ redirectUris: [`${setup.identifier}/log-in`] }))
await useProvider(setup, provider.url, { scope: 'openid profile email staff' })

test.each([{ employeeId: '7' }, undefined])(
  'an offer of %j: the source is told who has logged in, and asked for the other claims',
  async (claims) => {
    const own = claims === undefined ? { employeeId: '9' } : {}
    await using source = await openSource(filled({ level: 3, ...own }))
    const { configurationId, secret } = await addSource(setup, source.url)
    const { recordId, verifier, parameters } = await offered(setup, {
      credentialConfigurationId: configurationId,
      claims: claims as never,
      txCode: false,
    })
    const page = await browse(setup, { ...parameters, scope: configurationId })
    for (const claim of ['employeeId', 'department', 'level'])
      expect(page.text).toContain(`<li>${claim}</li>`)
    expect(source.requests).toEqual([])
    const { location } = await answer(setup, { request: sealedIn(page), decision: 'accept' })
    const code = location!.searchParams.get('code')!
    const { body: token } = await redeemAuthorized(setup, { code, verifier })
    const body = { credential_configuration_id: configurationId, proofs: { jwt: [await prove(setup)] } }
    const reply = await request(setup, { token: token.access_token, body })
    expect(source.verify(secret)).toMatchObject({
      identity: {
        from: 'log-in',
        iss: provider.url,
        sub: 'alice',
        claims: { name: 'Alice Adams', department: 'Sales' },
      },
      offered: claims ?? {},
      wanted: claims === undefined ? [['employeeId'], ['level']] : [['level']],
    })
    const all = { ...claims, ...own, department: 'Sales', level: 3 }
    expect(decodeJwtVc(reply.body.credentials[0].credential).claims).toMatchObject(all)
    expect(await recordOf(setup, recordId)).toMatchObject({ claims: all, protocolState: 'CredentialSent' })
  },
)

test('a configuration that has lost its source issues what the offer and the log-in have', async () => {
  const { configurationId } = await addSource(setup, 'https://hr.example/claims')
  const { verifier, parameters } = await offered(setup, {
    credentialConfigurationId: configurationId,
    claims: { employeeId: '7' },
    txCode: false,
  })
  const page = await browse(setup, { ...parameters, scope: configurationId })
  const { location } = await answer(setup, { request: sealedIn(page), decision: 'accept' })
  const code = location!.searchParams.get('code')!
  const { body: token } = await redeemAuthorized(setup, { code, verifier })
  await setup.tenant.call(
    'PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}',
    {
      path: { issuerId: setup.issuerId, credentialConfigId: configurationId },
      body: { claimsSource: null },
    },
  )
  const body = { credential_configuration_id: configurationId, proofs: { jwt: [await prove(setup)] } }
  const reply = await request(setup, { token: token.access_token, body })
  const { claims } = decodeJwtVc(reply.body.credentials[0].credential)
  expect(claims).toMatchObject({ employeeId: '7', department: 'Sales' })
})

test('without an offer, each person who logs in gets own claims by one call', async () => {
  await using source = await openSource(filled({}))
  const { issuerId, issuingDID, tenant } = setup
  const { configurationId } = await addSource(setup, source.url)
  await tenant.call('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
    path: { issuerId, credentialConfigId: configurationId },
    body: { begin: 'log-in', issuingDID },
  })
  for (const [account, employeeId, department] of [
    ['alice', '1', 'Sales'],
    ['bob', '2', 'Tests'],
  ] as const) {
    provider.state.account = account
    source.answers(filled({ employeeId }))
    const { challenge, verifier } = newPkce()
    const page = await browse(setup, {
      response_type: 'code',
      client_id: 'wallet',
      redirect_uri: redirectUri,
      scope: configurationId,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })
    const { location } = await answer(setup, { request: sealedIn(page), decision: 'accept' })
    const code = location!.searchParams.get('code')!
    const { body: token } = await redeemAuthorized(setup, { code, verifier })
    expect(token.expires_in).toBe(30 * 86_400)
    const body = { credential_configuration_id: configurationId, proofs: { jwt: [await prove(setup)] } }
    const reply = await request(setup, { token: token.access_token, body })
    expect(decodeJwtVc(reply.body.credentials[0].credential).claims).toMatchObject({ employeeId, department })
  }
  expect(source.asked().map(({ identity, offered: known }) => [identity.sub, known])).toEqual([
    ['alice', {}],
    ['bob', {}],
  ])
})
