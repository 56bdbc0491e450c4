/** Offers of several credentials: one grant, a record for each credential, and what a wallet may ask for. */
import { decodeJwtVc } from '../../credentials/codecs/_verify.ts'
import { describe, expect, test } from 'vitest'
import { refusal, publishSchema } from '../../support/tenants.ts'
import { untilEnd } from '../../support/shared.ts'
import {
  answer,
  consent,
  newPkce,
  open,
  push,
  redeemAuthorized,
  requestFor,
  sealedIn,
} from './_authorization.ts'
import { faults } from './_schemas.ts'
import {
  codeOf,
  errorOf,
  preAuthorizedGrant,
  prove,
  readOffer,
  recordOf,
  redeemOffer,
  request,
  startIssuer,
} from './_wallet.ts'

const setup = await untilEnd(startIssuer())
const { tenant, issuerId, issuingDID } = setup
const path = { issuerId }
await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
  path,
  body: {
    configurationId: 'Degree',
    format: 'jwt_vc_json',
    schemaId: await publishSchema(tenant, issuingDID, { required: ['degree'] }),
  },
})

type Credential = {
  credentialConfigurationId: string
  claims: Record<string, string>
  issuingDID?: string
  automaticIssuance?: boolean
  credentialIdentifier?: string
}
const person = (more: Partial<Credential> = {}): Credential => ({
  credentialConfigurationId: 'Person',
  issuingDID,
  claims: { name: 'Alice' },
  ...more,
})
const degree = (name: string, more: Partial<Credential> = {}): Credential => ({
  credentialConfigurationId: 'Degree',
  issuingDID,
  claims: { degree: name },
  ...more,
})

const offer = (credentials: Credential[], more: object = {}) =>
  tenant.call('POST /oid4vci/issuers/{issuerId}/credential-offers', { path, body: { credentials, ...more } })

const claimsIn = ({ body }: Awaited<ReturnType<typeof request>>) =>
  decodeJwtVc(body.credentials[0].credential).claims

/** Takes a credential by its identifier or its configuration. */
async function take(token: string, asked: object) {
  const body = { ...asked, proofs: { jwt: [await prove(setup)] } }
  expect(faults('credential_request-1_0', body)).toEqual([])
  return request(setup, { token, body })
}

describe('an offer of a person and two degrees', () => {
  test('names each configuration once, and has a record for each credential in one thread', async () => {
    const made = await offer([person(), degree('BSc'), degree('MSc', { credentialIdentifier: 'msc-2026' })])
    const read = await readOffer(made.credentialOffer)
    expect(faults('credential_offer-1_0', read)).toEqual([])
    expect(read.credential_configuration_ids).toEqual(['Person', 'Degree'])
    expect(made.records.map((each) => each.credentialConfigurationId)).toEqual(['Person', 'Degree', 'Degree'])
    expect(made.records[0]!.recordId).toBe(made.recordId)
    expect(made.records[2]!.credentialIdentifier).toBe('msc-2026')
    const { thid } = await recordOf(setup, made.recordId)
    const { contents } = await tenant.call('GET /issue-credentials/records', { query: { thid } })
    expect(contents.map(({ claims }) => claims)).toEqual([
      { name: 'Alice' },
      { degree: 'BSc' },
      { degree: 'MSc' },
    ])
  })

  test('is redeemed once, and each credential is taken by its identifier', async () => {
    const made = await offer([person(), degree('BSc'), degree('MSc', { credentialIdentifier: 'msc-2026' })])
    const { body } = await redeemOffer(setup, made.credentialOffer)
    const [first, second, third] = made.records
    expect(body.authorization_details).toEqual([
      {
        type: 'openid_credential',
        credential_configuration_id: 'Person',
        credential_identifiers: [first!.recordId],
      },
      {
        type: 'openid_credential',
        credential_configuration_id: 'Degree',
        credential_identifiers: [second!.recordId, 'msc-2026'],
      },
    ])
    const { access_token: token } = body
    const msc = await take(token, { credential_identifier: 'msc-2026' })
    expect(claimsIn(msc)).toMatchObject({ degree: 'MSc' })
    expect(msc.body.notification_id).toBe(third!.recordId)
    expect((await recordOf(setup, third!.recordId)).protocolState).toBe('CredentialSent')
    expect((await recordOf(setup, second!.recordId)).protocolState).toBe('OfferRedeemed')
    expect(claimsIn(await take(token, { credential_identifier: second!.recordId }))).toMatchObject({
      degree: 'BSc',
    })
    // A wallet that does not read identifiers can still take what its configuration names alone.
    expect(claimsIn(await take(token, { credential_configuration_id: 'Person' }))).toMatchObject({
      name: 'Alice',
    })
    expect(errorOf(await take(token, { credential_configuration_id: 'Degree' }))).toEqual([
      400,
      'invalid_credential_request',
    ])
    expect(errorOf(await take(token, { credential_identifier: 'another' }))).toEqual([
      400,
      'unknown_credential_identifier',
    ])
    expect(errorOf(await redeemOffer(setup, made.credentialOffer))).toEqual([400, 'invalid_grant'])
  })

  test('one of two is deferred, the other one is not', async () => {
    const made = await offer([person(), degree('PhD', { automaticIssuance: false })])
    const [, second] = made.records
    const { access_token: token } = (await redeemOffer(setup, made.credentialOffer)).body
    expect(claimsIn(await take(token, { credential_configuration_id: 'Person' }))).toMatchObject({
      name: 'Alice',
    })
    const waiting = await take(token, { credential_identifier: second!.recordId })
    expect([waiting.status, waiting.body.transaction_id]).toEqual([202, second!.recordId])
  })

  test('a wrong transaction code counts for the offer, and blocks all of it', async () => {
    const made = await offer([person(), degree('BSc')], { txCode: true })
    const wrong = made.txCode === '000000' ? '000001' : '000000'
    for (let count = 0; count < 5; count++) await redeemOffer(setup, made.credentialOffer, wrong)
    for (const { recordId } of made.records)
      expect((await recordOf(setup, recordId)).protocolState).toBe('OfferBlocked')
    expect(errorOf(await redeemOffer(setup, made.credentialOffer, made.txCode))).toEqual([
      400,
      'invalid_grant',
    ])
  })

  test('one credential can be withdrawn, and the others stay', async () => {
    const made = await offer([person(), degree('BSc')])
    const { recordId } = made.records[0]!
    await tenant.call('DELETE /issue-credentials/records/{recordId}', { path: { recordId } })
    const { body } = await redeemOffer(setup, made.credentialOffer)
    expect(claimsIn(await take(body.access_token, { credential_configuration_id: 'Degree' }))).toMatchObject({
      degree: 'BSc',
    })
    expect(errorOf(await take(body.access_token, { credential_configuration_id: 'Person' }))).toEqual([
      403,
      'insufficient_scope',
    ])
  })

  test('a token is not for the credentials of another offer of the issuer', async () => {
    const [own, foreign] = [await offer([person(), degree('BSc')]), await offer([person(), degree('MSc')])]
    const { access_token: token } = (await redeemOffer(setup, own.credentialOffer)).body
    await redeemOffer(setup, foreign.credentialOffer)
    const identifier = foreign.records[1]!.credentialIdentifier
    expect(errorOf(await take(token, { credential_identifier: identifier }))).toEqual([
      400,
      'unknown_credential_identifier',
    ])
  })
})

describe('the grant authorization_code', () => {
  const authorized = async (credentials: Credential[], asked: object) => {
    const made = await offer(credentials, { grant: 'authorization_code', txCode: false })
    const { parameters, verifier } = await requestFor(made.credentialOffer)
    return { ...made, verifier, parameters: { ...parameters, scope: undefined, ...asked } }
  }
  const details = (...ids: string[]) => ({
    authorization_details: JSON.stringify(
      ids.map((id) => ({ type: 'openid_credential', credential_configuration_id: id })),
    ),
  })

  test('the page names all credentials, and one consent is for all that were asked for', async () => {
    const made = await authorized([person(), degree('BSc'), degree('MSc')], details('Person', 'Degree'))
    const page = await open(setup, made.parameters)
    expect(page.text).toContain('Person, Degree, Degree')
    const { location } = await answer(setup, { request: sealedIn(page), decision: 'accept' })
    const code = location!.searchParams.get('code')!
    const { body } = await redeemAuthorized(setup, { code, verifier: made.verifier })
    expect(body.authorization_details).toMatchObject([
      { credential_configuration_id: 'Person' },
      {
        credential_configuration_id: 'Degree',
        credential_identifiers: [made.records[1]!.recordId, made.records[2]!.recordId],
      },
    ])
    // With details, the identifier is required.
    expect(errorOf(await take(body.access_token, { credential_configuration_id: 'Person' }))).toEqual([
      400,
      'invalid_credential_request',
    ])
  })

  test('by scope, unknown values do not count, and only what was asked for is granted', async () => {
    const made = await authorized([person(), degree('BSc')], { scope: 'openid Degree other' })
    const code = await consent(setup, made.parameters)
    const { body } = await redeemAuthorized(setup, { code, verifier: made.verifier })
    expect(body.authorization_details).toBeUndefined()
    expect(claimsIn(await take(body.access_token, { credential_configuration_id: 'Degree' }))).toMatchObject({
      degree: 'BSc',
    })
    expect(errorOf(await take(body.access_token, { credential_configuration_id: 'Person' }))).toEqual([
      403,
      'insufficient_scope',
    ])
    expect((await recordOf(setup, made.records[0]!.recordId)).protocolState).toBe('OfferCreated')
    // The offer was for one wallet.
    expect(errorOf(await push(setup, { ...made.parameters, scope: 'Person' }))).toEqual([
      400,
      'invalid_request',
    ])
  })

  test('a scope and details add up', async () => {
    const made = await authorized([person(), degree('BSc')], { ...details('Person'), scope: 'Degree' })
    const code = await consent(setup, made.parameters)
    const { body } = await redeemAuthorized(setup, { code, verifier: made.verifier })
    expect(body.authorization_details).toHaveLength(2)
  })

  test('what was not offered is refused', async () => {
    const made = await authorized([person()], {})
    const send = async (asked: object) => errorOf(await push(setup, { ...made.parameters, ...asked }))
    expect(await send(details('Person', 'Degree'))).toEqual([400, 'invalid_authorization_details'])
    expect(await send({ authorization_details: '[]' })).toEqual([400, 'invalid_authorization_details'])
    expect(await send({ scope: 'Degree' })).toEqual([400, 'invalid_scope'])
    expect(await send({ code_challenge: newPkce().challenge, scope: 'Person Degree' })).toEqual([
      201,
      undefined,
    ])
  })
})

describe('a body that has one credential and several, or neither', () => {
  const send = (body: object) =>
    refusal(tenant.call('POST /oid4vci/issuers/{issuerId}/credential-offers', { path, body }))
  test.each([
    [{}, /credentialConfigurationId/],
    [{ credentialConfigurationId: 'Person' }, /claims/],
    [{ credentials: [] }, /credentials/],
    [{ credentials: [person()], claims: {} }, /claims.*belongs into each of the credentials/],
    [{ credentials: [person()], issuingDID }, /issuingDID.*belongs into each of the credentials/],
    [
      { credentials: [person({ credentialIdentifier: 'a' }), person({ credentialIdentifier: 'a' })] },
      /credentials.*the same credentialIdentifier/,
    ],
    [{ credentials: Array.from({ length: 11 }, () => person()) }, /credentials/],
  ])('%j', async (body, reason) => {
    expect(await send(body)).toMatchObject({ status: 400, detail: expect.stringMatching(reason) })
  })

  test('a credential whose claims break the schema leaves no record of the others', async () => {
    const count = async () =>
      (await tenant.call('GET /issue-credentials/records', { query: { limit: 1_000 } })).contents.length
    const before = await count()
    expect(await send({ credentials: [person(), degree('BSc', { claims: {} })] })).toMatchObject({
      status: 422,
    })
    expect(await count()).toBe(before)
  })

  test('a repeated request with the same key returns the same offer', async () => {
    const body = { credentials: [person(), degree('BSc')] }
    const headers = { 'idempotency-key': 'two' }
    const send = () =>
      tenant.call('POST /oid4vci/issuers/{issuerId}/credential-offers', { path, body, headers })
    expect(await send()).toEqual(await send())
  })
})

test('the code of an offer is that of one grant', async () => {
  const made = await offer([person(), degree('BSc')])
  expect(await codeOf(made.credentialOffer)).toMatch(/^[\w-]{43}$/)
  expect(Object.keys((await readOffer(made.credentialOffer)).grants)).toEqual([preAuthorizedGrant])
})
