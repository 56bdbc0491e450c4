/** Issuance that a wallet begins: static offers, requests without `issuer_state`, and what each step leaves. */
import { describe, expect, test } from 'vitest'
import { decodeJwtVc } from '../../credentials/codecs/_verify.ts'
import { createOpenLimit } from '../../../src/wallet/quotas.ts'
import { publishSchema, refusal } from '../../support/tenants.ts'
import { untilEnd } from '../../support/shared.ts'
import { answer, newPkce, open, push, redeemAuthorized, redirectUri, sealedIn } from './_authorization.ts'
import { faults } from './_schemas.ts'
import { addIssuer, errorOf, prove, request, startIssuer } from './_wallet.ts'

const setup = await untilEnd(startIssuer())
const { tenant, issuerId, issuingDID, agent } = setup
const other = await addIssuer(setup.agent, tenant)

const add = (configurationId: string, required: string[], more: object = {}) =>
  publishSchema(tenant, issuingDID, { name: configurationId, required }).then((schemaId) =>
    tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
      path: { issuerId },
      body: { configurationId, format: 'jwt_vc_json', schemaId, issuingDID, ...more },
    }),
  )
await add('Voucher', [], { begin: 'open' })
await add('Ticket', [], { begin: 'open' })
await add('Name', ['name'], { begin: 'open' })

const records = async () =>
  (await tenant.call('GET /issue-credentials/records', { query: { limit: 1_000 } })).contents.length

/** A request without an offer. */
function parametersFor(scope: string) {
  const { verifier, challenge } = newPkce()
  return {
    verifier,
    parameters: {
      response_type: 'code',
      client_id: 'wallet',
      redirect_uri: redirectUri,
      state: 'a state',
      scope,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    },
  }
}

/** The access token of a person who accepts. */
async function accepted(scope: string) {
  const { parameters, verifier } = parametersFor(scope)
  const page = await open(setup, parameters)
  const { location } = await answer(setup, { request: sealedIn(page), decision: 'accept' })
  const code = location!.searchParams.get('code')!
  return { page, code, verifier, token: await redeemAuthorized(setup, { code, verifier }) }
}

const take = async (token: string, asked: object) =>
  request(setup, { token, body: { ...asked, proofs: { jwt: [await prove(setup)] } } })

test('a configuration says what begins an issuance', async () => {
  const path = { issuerId, credentialConfigId: 'Voucher' }
  const route = 'GET /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}'
  expect(await tenant.call(route, { path })).toMatchObject({ begin: 'open' })
  expect(
    (await tenant.call(route, { path: { ...path, credentialConfigId: 'Person' } })).begin,
  ).toBeUndefined()
})

test.each([
  [{ begin: 'log-in' }, 'begin: the issuer has no log-in'],
  [{ begin: 'open' }, 'begin: without an offer, the configuration needs a signer'],
])('%j is refused', async (change, reason) => {
  const path = { issuerId, credentialConfigId: 'Person' }
  const route = 'PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}'
  const refused = await refusal(tenant.call(route, { path, body: change as never }))
  expect(refused).toMatchObject({ status: 400, detail: expect.stringContaining(reason) })
})

describe('a static offer', () => {
  const read = (id: string, accept = 'application/json') =>
    fetch(`${agent.url}/oid4vci/issuers/${issuerId}/offers/${id}`, { headers: { accept } })

  test('is for wallets, has no secret, and is the same each time', async () => {
    const offer = await (await read('Voucher')).json()
    expect(offer).toEqual({
      credential_issuer: setup.identifier,
      credential_configuration_ids: ['Voucher'],
      grants: { authorization_code: {} },
    })
    expect(await (await read('Voucher')).json()).toEqual(offer)
    const all = await (await read('all')).json()
    expect(all).toMatchObject({ credential_configuration_ids: ['Voucher', 'Ticket', 'Name'] })
    for (const each of [offer, all]) expect(faults('credential_offer-1_0', each)).toEqual([])
  })

  test('is a page with a code and a link in a browser', async () => {
    const text = await (await read('Voucher', 'text/html')).text()
    expect(text).toContain('openid-credential-offer://?credential_offer_uri=')
    expect(text).toContain('Voucher')
    expect(text).not.toContain('EventSource')
    // It is for everyone, unlike the page of another offer.
    expect(text).toContain('This offer is for everyone and has no end.')
    expect(text).not.toContain('Do not pass this link on')
  })

  test.each(['Person', 'Missing'])('of %s, which needs an offer or is not there, is 404', async (id) => {
    expect((await read(id)).status).toBe(404)
  })
})

test('a wallet begins: the record is made when the code is redeemed', async () => {
  const before = await records()
  const { parameters, verifier } = parametersFor('Voucher')
  const pushed = await push(setup, parameters)
  expect(pushed.status).toBe(201)
  const page = await open(setup, { client_id: 'wallet', request_uri: pushed.body.request_uri })
  expect(page.text).toContain('Voucher')
  expect(page.text).toContain(issuingDID)
  const fields = { request: sealedIn(page), decision: 'accept' }
  const { location } = await answer(setup, fields)
  expect(await records()).toBe(before)
  // The same form again, as of a double click.
  expect((await answer(setup, fields)).location!.href).toBe(location!.href)
  const code = location!.searchParams.get('code')!
  const token = await redeemAuthorized(setup, { code, verifier })
  expect([token.status, await records()]).toEqual([200, before + 1])
  const issued = await take(token.body.access_token, { credential_configuration_id: 'Voucher' })
  expect(decodeJwtVc(issued.body.credentials[0].credential)).toMatchObject({ issuerDid: issuingDID })
  const { contents } = await tenant.call('GET /issue-credentials/records', { query: { limit: 1_000 } })
  expect(contents.at(-1)).toMatchObject({ protocolState: 'CredentialSent', role: 'Issuer', issuingDID })
  // A code that comes twice ends what was not issued yet (RFC 6749 §4.1.2).
  expect(errorOf(await redeemAuthorized(setup, { code, verifier }))).toEqual([400, 'invalid_grant'])
})

test('several credentials of one consent', async () => {
  const { token, page } = await accepted('Voucher Ticket')
  expect(page.text).toContain('Voucher, Ticket')
  const { access_token: value } = token.body
  for (const id of ['Voucher', 'Ticket'])
    expect((await take(value, { credential_configuration_id: id })).status).toBe(200)
})

test('declining leaves nothing', async () => {
  const before = await records()
  const page = await open(setup, parametersFor('Voucher').parameters)
  const { location } = await answer(setup, { request: sealedIn(page), decision: 'decline' })
  expect(location!.searchParams.get('error')).toBe('access_denied')
  expect(await records()).toBe(before)
})

test('claims that nobody gives are not issued', async () => {
  const { token } = await accepted('Name')
  expect(errorOf(await take(token.body.access_token, { credential_configuration_id: 'Name' }))).toEqual([
    400,
    'credential_request_denied',
  ])
})

describe('a request without an offer', () => {
  const send = async (changes: object, to = setup) =>
    errorOf(await push(to, { ...parametersFor('Voucher').parameters, ...changes }))

  test('is only for credentials that need none', async () => {
    expect(await send({ scope: 'Person' })).toEqual([400, 'invalid_scope'])
    expect(await send({ scope: 'Person Voucher' })).toEqual([201, undefined])
    const details = (...ids: string[]) => ({
      scope: undefined,
      authorization_details: JSON.stringify(
        ids.map((id) => ({ type: 'openid_credential', credential_configuration_id: id })),
      ),
    })
    expect(await send(details('Voucher', 'Person'))).toEqual([400, 'invalid_authorization_details'])
    expect(await send(details('Voucher'))).toEqual([201, undefined])
  })

  test('is refused by an issuer whose credentials all need one', async () => {
    expect(await send({ scope: 'Person' }, other as typeof setup)).toEqual([400, 'invalid_request'])
  })

  test('is not redirected before a person has pressed a button', async () => {
    const { parameters } = parametersFor('Missing')
    const page = await open(setup, parameters)
    expect([page.status, page.location]).toEqual([400, undefined])
  })

  test('a form of one issuer is not of another', async () => {
    const page = await open(setup, parametersFor('Voucher').parameters)
    const fields = { request: sealedIn(page), decision: 'accept' }
    expect((await answer(other, fields)).status).toBe(400)
  })

  test('what is closed after the consent is not issued', async () => {
    const { parameters, verifier } = parametersFor('Ticket')
    const page = await open(setup, parameters)
    const { location } = await answer(setup, { request: sealedIn(page), decision: 'accept' })
    const begin = (value: 'offer' | 'open') =>
      tenant.call('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
        path: { issuerId, credentialConfigId: 'Ticket' },
        body: { begin: value },
      })
    await begin('offer')
    const code = location!.searchParams.get('code')!
    expect(errorOf(await redeemAuthorized(setup, { code, verifier }))).toEqual([400, 'invalid_grant'])
    await begin('open')
  })
})

test('a configuration has a limit for a day, whoever asks', async () => {
  const limit = createOpenLimit(2)
  await limit('issuer Voucher')
  await limit('issuer Voucher')
  await expect(limit('issuer Voucher')).rejects.toMatchObject({ status: 429 })
  await limit('issuer Ticket')
})
