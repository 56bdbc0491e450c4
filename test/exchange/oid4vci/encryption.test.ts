/** Encrypted requests and responses of the credential endpoints (VCI §10). */
import { decodeJwtVc } from '../../credentials/codecs/_verify.ts'
import { expect, test } from 'vitest'
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import { sharedAgent } from '../../support/agent.ts'
import { ask } from '../../support/ask.ts'
import { exportFrom, importInto } from '../../operations/wallet-export/_transfer.ts'
import { decryptResponse, encryptRequest, metadataOf, newResponseKey } from './_encryption.ts'
import { faults } from './_schemas.ts'
import { addIssuer, errorOf, prove, recordOf, redeemed, startIssuer, type Setup } from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const setup = await untilEnd(startIssuer())

/** Sends a request to an endpoint; a text is sent as `application/jwt`. */
function send(
  token: string,
  body: object | string,
  { issuerId, agent }: Setup = setup,
  endpoint = 'credentials',
) {
  return ask(agent, `POST /oid4vci/issuers/${issuerId}/${endpoint}`, {
    body,
    type: typeof body === 'string' ? 'application/jwt' : 'application/json',
    headers: { authorization: `Bearer ${token}` },
  })
}

const requestFor = async (issuer: Setup = setup, more: object = {}) => ({
  credential_configuration_id: 'Person',
  proofs: { jwt: [await prove(issuer)] },
  ...more,
})

function setRequired(encryptionRequired: boolean) {
  const path = { issuerId: setup.issuerId }
  return setup.tenant.call('PATCH /oid4vci/issuers/{issuerId}', { path, body: { encryptionRequired } })
}

test('the metadata have the key of the issuer, and the algorithms of the specification', async () => {
  const metadata = await metadataOf(setup)
  expect(faults('credential_issuer_metadata-1_0', metadata)).toEqual([])
  const algorithms = {
    enc_values_supported: ['A128GCM', 'A256GCM'],
    zip_values_supported: ['DEF'],
    encryption_required: false,
  }
  expect(metadata.credential_response_encryption).toEqual({
    alg_values_supported: ['ECDH-ES'],
    ...algorithms,
  })
  const { jwks, ...others } = metadata.credential_request_encryption
  expect(others).toEqual(algorithms)
  expect(jwks.keys).toEqual([
    {
      kty: 'EC',
      crv: 'P-256',
      x: expect.any(String),
      y: expect.any(String),
      kid: expect.any(String),
      use: 'enc',
      alg: 'ECDH-ES',
    },
  ])
  const other = await addIssuer(setup.agent, await setup.agent.newTenant('other'))
  expect((await metadataOf(other)).credential_request_encryption.jwks.keys[0].x).not.toBe(jwks.keys[0].x)
})

test.each([
  ['A128GCM', undefined],
  ['A256GCM', undefined],
  ['A256GCM', 'DEF'],
])('a request and a response are encrypted with %s, and compressed by %s', async (enc, zip) => {
  const { token, recordId } = await redeemed(setup)
  const response = newResponseKey({}, enc)
  const compression = zip === undefined ? {} : { zip }
  const credential_response_encryption = { ...response.parameters, ...compression }
  const wanted = await requestFor(setup, { credential_response_encryption })
  const reply = await send(token, await encryptRequest(setup, wanted, { enc, ...compression }))
  expect([reply.status, reply.headers.get('cache-control')], JSON.stringify(reply.body)).toEqual([
    200,
    'no-store',
  ])
  expect(reply.headers.get('content-type')).toMatch(/^application\/jwt/)
  const { header, body } = await decryptResponse(reply.body, response)
  expect(header).toMatchObject({ alg: 'ECDH-ES', enc, kid: 'wallet', ...compression })
  expect(faults('credential_request-1_0', wanted)).toEqual([])
  expect(decodeJwtVc(body.credentials[0].credential).claims).toMatchObject({ name: 'Alice' })
  expect(body.notification_id).toBe(recordId)
  // The response was lost.
  const again = await send(token, await encryptRequest(setup, wanted))
  expect((await decryptResponse(again.body, response)).body).toEqual(body)
})

test('an encrypted request without a key gets a response in JSON', async () => {
  const { token } = await redeemed(setup)
  const reply = await send(token, await encryptRequest(setup, await requestFor()))
  expect([reply.status, reply.body.credentials.length]).toEqual([200, 1])
})

test('the request of the Cloud Agent gets an encrypted response too', async () => {
  const { token } = await redeemed(setup)
  const response = newResponseKey()
  const body = {
    format: 'jwt_vc_json',
    proof: { proof_type: 'jwt', jwt: await prove(setup) },
    credential_response_encryption: response.parameters,
  }
  const reply = await send(token, await encryptRequest(setup, body))
  expect((await decryptResponse(reply.body, response)).body).toEqual({ credential: expect.any(String) })
})

test('a deferred credential is encrypted to the key of the deferred request', async () => {
  const { token, recordId } = await redeemed(setup, { automaticIssuance: false })
  const [first, second] = [newResponseKey(), newResponseKey()]
  const wanted = await requestFor(setup, { credential_response_encryption: first.parameters })
  const deferred = await send(token, await encryptRequest(setup, wanted))
  expect(deferred.status).toBe(202)
  expect((await decryptResponse(deferred.body, first)).body).toMatchObject({ transaction_id: recordId })
  const fetchWith = async (members: object) =>
    send(
      token,
      await encryptRequest(setup, { transaction_id: recordId, ...members }),
      setup,
      'deferred-credentials',
    )
  const waiting = await fetchWith({ credential_response_encryption: second.parameters })
  expect(waiting.status).toBe(202)
  await setup.tenant.call('POST /issue-credentials/records/{recordId}/issue-credential', {
    path: { recordId },
  })
  const issued = await fetchWith({ credential_response_encryption: second.parameters })
  expect(issued.status).toBe(200)
  expect((await decryptResponse(issued.body, second)).body.credentials).toHaveLength(1)
  await expect(decryptResponse(issued.body, first)).rejects.toThrow()
  expect((await fetchWith({})).body.credentials).toHaveLength(1)
})

test('encryption that cannot be is refused with the reason, in JSON; nothing is used up', async () => {
  const { token, recordId } = await redeemed(setup)
  const wanted = await requestFor()
  const { parameters } = newResponseKey()
  const { jwk } = parameters
  const refused = async (body: object | string, reason: RegExp) => {
    const reply = await send(token, body)
    expect(errorOf(reply), String(reason)).toEqual([400, 'invalid_encryption_parameters'])
    expect(reply.body.error_description).toMatch(reason)
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/)
  }
  const responses: [unknown, RegExp][] = [
    ['A256GCM', /^credential_response_encryption: /],
    [{}, /jwk: /],
    [{ jwk }, /enc: /],
    [{ ...parameters, enc: 'A256CBC-HS512' }, /enc: /],
    [{ ...parameters, zip: 'GZIP' }, /zip: /],
    [{ ...parameters, jwk: { ...jwk, alg: undefined } }, /jwk.alg: /],
    [{ ...parameters, jwk: { ...jwk, alg: 'ECDH-ES+A256KW' } }, /jwk.alg: .* ECDH-ES only/],
    [{ ...parameters, jwk: { ...jwk, crv: 'P-384' } }, /jwk.crv: .* P-256 only/],
    [{ ...parameters, jwk: { ...jwk, y: jwk.x } }, /not a point on P-256/],
  ]
  for (const [credential_response_encryption, reason] of responses)
    await refused(await encryptRequest(setup, { ...wanted, credential_response_encryption }), reason)
  await refused({ ...wanted, credential_response_encryption: parameters }, /must be encrypted/)

  const undecryptable = /cannot be decrypted/
  await refused('a.b.c.d.e', undecryptable)
  await refused(await encryptRequest(setup, wanted, { kid: 'other' }), /kid/)
  await refused(await encryptRequest(setup, wanted, { alg: 'ECDH-ES+A128KW' }), undecryptable)
  await refused(await encryptRequest(setup, wanted, { enc: 'A128CBC-HS256' }), undecryptable)
  const other = await addIssuer(setup.agent, setup.tenant)
  await refused(await encryptRequest(other, wanted), undecryptable)
  const bomb = await encryptRequest(setup, ' '.repeat(2_000_000), { zip: 'DEF' })
  expect(bomb.length).toBeLessThan(10_000)
  await refused(bomb, undecryptable)
  expect(errorOf(await send(token, await encryptRequest(setup, 'no JSON')))).toEqual([
    400,
    'invalid_credential_request',
  ])
  expect(await recordOf(setup, recordId)).toMatchObject({ protocolState: 'OfferRedeemed' })
  expect((await send(token, await encryptRequest(setup, wanted))).status).toBe(200)
})

test('an issuer can require encryption', async () => {
  expect(await setRequired(true)).toMatchObject({ encryptionRequired: true })
  const metadata = await metadataOf(setup)
  for (const side of ['request', 'response'])
    expect(metadata[`credential_${side}_encryption`].encryption_required).toBe(true)
  const { token } = await redeemed(setup)
  const response = newResponseKey()
  const wanted = await requestFor()
  const unencrypted = await send(token, { ...wanted, credential_response_encryption: response.parameters })
  expect(errorOf(unencrypted)).toEqual([400, 'invalid_encryption_parameters'])
  const withoutKey = await send(token, await encryptRequest(setup, wanted))
  expect(errorOf(withoutKey)).toEqual([400, 'invalid_encryption_parameters'])
  const encrypted = { ...wanted, credential_response_encryption: response.parameters }
  const reply = await send(token, await encryptRequest(setup, encrypted))
  expect((await decryptResponse(reply.body, response)).body.credentials).toHaveLength(1)
  expect(await setRequired(false)).not.toHaveProperty('encryptionRequired')
})

test('the key moves with the wallet, and an issuer of an earlier release gets one', async () => {
  const tenant = await setup.agent.newTenant('mover')
  const moving = await addIssuer(setup.agent, tenant)
  const { jwks } = (await metadataOf(moving)).credential_request_encryption
  const made = await redeemed(moving)
  const key = generateKey('Ed25519')
  const other = await sharedAgent()
  await importInto(other, await exportFrom(setup.agent, tenant.walletId, { move: true }))
  const there = { ...moving, agent: other }
  expect((await metadataOf(there)).credential_request_encryption.jwks).toEqual(jwks)
  const identifier = `${other.url}/oid4vci/issuers/${moving.issuerId}`
  const proofs = { jwt: [await prove({ ...there, identifier }, { key })] }
  const wanted = { credential_configuration_id: 'Person', proofs }
  expect((await send(made.token, await encryptRequest(there, wanted), there)).status).toBe(200)

  const { db } = other.agent
  await db.updateTable('credential_issuer').set({ encryption_key: null }).execute()
  const [first, second] = await Promise.all([metadataOf(there), metadataOf(there)])
  expect(first.credential_request_encryption.jwks.keys).toHaveLength(1)
  expect(second).toEqual(first)
  expect(first.credential_request_encryption.jwks).not.toEqual(jwks)
})

test('the private key is sealed in the database', async () => {
  const rows = setup.agent.agent.env.db.selectFrom('credential_issuer').select('encryption_key')
  for (const { encryption_key: stored } of await rows.execute()) {
    expect(Object.keys(JSON.parse(stored!)).toSorted()).toEqual(['jwk', 'sealed'])
    expect(JSON.parse(stored!).jwk).not.toHaveProperty('d')
    expect(JSON.parse(stored!).sealed).not.toContain('"d"')
  }
})
