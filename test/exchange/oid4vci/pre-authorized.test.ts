/** Issuance with a pre-authorized code: offer, token, nonce, credential; and what is refused at each step. */
import { decodeJwtVc, verifyJwtVc } from '../../credentials/codecs/_verify.ts'
import { describe, expect, test } from 'vitest'
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import { resolveJwkDid } from '../../../src/did/jwk.ts'
import { ask } from '../../support/ask.ts'
import { faultsOf } from '../../daemon/_cloud-agent-bodies.ts'
import { isRevoked } from '../../flows/_revocation.ts'
import { expire } from './_scene.ts'
import { newDid, refusal } from '../../support/tenants.ts'
import { Webhook } from '../../support/webhook.ts'
import {
  errorOf,
  addIssuer,
  codeOf,
  newNonce,
  offer,
  preAuthorizedGrant,
  prove,
  readOffer,
  recordOf,
  redeem,
  redeemed,
  redeemOffer,
  request,
  startIssuer,
  unkeyedProof,
} from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const setup = await untilEnd(startIssuer())
const other = await addIssuer(setup.agent, setup.tenant)

const checks = (setupOf: typeof setup) => ({
  resolve: setupOf.agent.agent.env.resolver.document,
  now: Math.floor(Date.now() / 1_000),
  verifyStatus: false as const,
})

describe('issuance', () => {
  test('a wallet redeems an offer and gets the credential, bound to its key', async () => {
    const { recordId, credentialOffer } = await offer(setup, { validityPeriod: 3_600 })
    expect(credentialOffer).toMatch(/^openid-credential-offer:\/\/\?credential_offer=/)
    expect(await readOffer(credentialOffer)).toMatchObject({
      credential_issuer: setup.identifier,
      credential_configuration_ids: ['Person'],
    })
    expect((await recordOf(setup, recordId)).protocolState).toBe('OfferCreated')
    const { status, body, headers } = await redeemOffer(setup, credentialOffer)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: expect.any(Number) })
    expect((await recordOf(setup, recordId)).protocolState).toBe('OfferRedeemed')
    const reply = await request(setup, { token: body.access_token, jwt: await prove(setup) })
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const { credential } = reply.body.credentials[0]
    const verified = await verifyJwtVc(credential, checks(setup))
    expect(verified).toMatchObject({
      claims: { name: 'Alice' },
      subjectDid: expect.stringMatching(/^did:jwk:/),
    })
    expect(verified.issuerDid).toBe(setup.issuingDID)
    expect(verified.payload.exp).toBeGreaterThan(Date.now() / 1_000)
    expect(resolveJwkDid(verified.subjectDid!).authentication).toHaveLength(1)
    const record = await recordOf(setup, recordId)
    expect(record).toMatchObject({ protocolState: 'CredentialSent', subjectId: verified.subjectDid })
    expect(Buffer.from(record.credential!, 'base64url').toString()).toBe(credential)
  })

  test('the credential is bound to the DID of a key that the proof names', async () => {
    const { tenant } = setup
    const { longFormDid } = await newDid(tenant, 'authentication')
    const key = await setup.agent.agent.wallets.use(tenant.walletId, async (wallet) => {
      const { getSigningKey } = await import('../../../src/wallet/did-registrar/keys.ts')
      return (await getSigningKey(wallet, longFormDid, 'authentication')).privateJwk
    })
    for (const kid of [`${longFormDid}#key-1`, longFormDid]) {
      const { token } = await redeemed(setup)
      const jwt = await prove(setup, { key, header: { jwk: undefined, kid } })
      const { body } = await request(setup, { token, jwt })
      const verified = await verifyJwtVc(body.credentials[0].credential, checks(setup))
      expect(verified.subjectDid).toBe(longFormDid)
    }
  })

  test('the request of the Cloud Agent gets its response, and decides nothing about the content', async () => {
    const { token } = await redeemed(setup)
    const body = {
      format: 'jwt_vc_json',
      credential_definition: {
        type: ['VerifiableCredential', 'Admin'],
        '@context': ['https://evil.example'],
      },
      proof: { proof_type: 'jwt', jwt: await prove(setup) },
    }
    const reply = await request(setup, { token, body })
    expect(reply.body).toEqual({ credential: expect.any(String) })
    expect(faultsOf('POST /oid4vci/issuers/{issuerId}/credentials', reply.body)).toEqual([])
    const { payload } = await verifyJwtVc(reply.body.credential, checks(setup))
    expect(payload.vc).toMatchObject({ type: ['VerifiableCredential'] })
    expect(JSON.stringify(payload)).not.toContain('evil')
  })

  test('an offer by reference is readable until it is redeemed', async () => {
    const { credentialOffer } = await offer(setup, { byReference: true, txCode: true })
    const uri = new URL(credentialOffer).searchParams.get('credential_offer_uri')!
    const read = await readOffer(credentialOffer)
    expect(read.grants[preAuthorizedGrant].tx_code).toEqual({ input_mode: 'numeric', length: 6 })
    const made = await offer(setup, { byReference: true })
    await redeemOffer(setup, made.credentialOffer)
    const used = new URL(made.credentialOffer).searchParams.get('credential_offer_uri')!
    expect((await ask(setup.agent, `GET ${used}`)).status).toBe(404)
    expect((await ask(setup.agent, `GET ${uri}x`)).status).toBe(404)
    // The link is not one to an invitation.
    const shortId = new URL(uri).pathname.slice('/o/'.length)
    expect((await ask(setup.agent, `GET ${setup.agent.url}/i?_oobid=${shortId}`)).status).toBe(410)
  })

  test('a repeated request gets the same credential, and another key gets none', async () => {
    const { token } = await redeemed(setup)
    const key = generateKey('secp256k1')
    const jwt = await prove(setup, { key })
    const first = await request(setup, { token, jwt })
    for (const again of [jwt, await prove(setup, { key })])
      expect((await request(setup, { token, jwt: again })).body).toEqual(first.body)
    const stranger = await request(setup, { token, jwt: await prove(setup) })
    expect(errorOf(stranger)).toEqual([400, 'credential_request_denied'])
  })

  test('a batch has a credential for each key, with statuses that are revoked together', async () => {
    const { token, recordId } = await redeemed(setup)
    const [nonce, keys] = [await newNonce(setup), [1, 2, 3].map(() => generateKey('Ed25519'))]
    const jwts = await Promise.all(keys.map((key) => prove(setup, { key, claims: { nonce } })))
    const body = { credential_configuration_id: 'Person', proofs: { jwt: jwts } }
    const reply = await request(setup, { token, body })
    const credentials = reply.body.credentials.map(({ credential }: any) => decodeJwtVc(credential))
    expect(new Set(credentials.map(({ subjectDid }: any) => subjectDid)).size).toBe(3)
    const indexes = credentials.map(({ statuses }: any) => statuses[0].statusListIndex)
    expect(new Set(indexes).size).toBe(3)
    expect((await request(setup, { token, body })).body).toEqual(reply.body)
    await setup.tenant.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: recordId } })
    for (const { jwt } of credentials) expect(await isRevoked(jwt)).toBe(true)
  })

  test('of concurrent requests with two keys, one gets the credential', async () => {
    const { token } = await redeemed(setup)
    const proofs = await Promise.all([prove(setup), prove(setup)])
    const replies = await Promise.all(proofs.map((jwt) => request(setup, { token, jwt })))
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 400]))
  })

  test('the tenant gets events of every state, and revokes the credential as any other', async () => {
    await using webhook = await Webhook.open()
    await setup.tenant.call('POST /events/webhooks', { body: { url: webhook.url } })
    const { token, recordId } = await redeemed(setup)
    await request(setup, { token, jwt: await prove(setup) })
    const { thid } = await recordOf(setup, recordId)
    for (const state of ['OfferCreated', 'OfferRedeemed', 'CredentialSent'])
      await webhook.reached(setup.tenant, thid, state)
    await setup.tenant.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: recordId } })
    expect((await recordOf(setup, recordId)).revoked).toBe(true)
    expect(JSON.stringify(webhook.events)).not.toContain(token)
  })
})

describe('the token endpoint refuses', () => {
  test('a code that was redeemed', async () => {
    const { credentialOffer } = await redeemed(setup)
    expect(errorOf(await redeemOffer(setup, credentialOffer))).toEqual([400, 'invalid_grant'])
  })

  test('a code of another issuer', async () => {
    const { credentialOffer } = await offer(setup)
    expect(errorOf(await redeemOffer(other, credentialOffer))).toEqual([400, 'invalid_grant'])
    expect((await redeemOffer(setup, credentialOffer)).status).toBe(200)
  })

  test('a code after the end of the offer, whose record then has expired', async () => {
    const { credentialOffer, recordId } = await offer(setup, { byReference: true })
    const code = await codeOf(credentialOffer)
    await expire({ agent: setup.agent, setup }, recordId)
    const uri = new URL(credentialOffer).searchParams.get('credential_offer_uri')!
    expect((await ask(setup.agent, `GET ${uri}`)).status).toBe(404)
    const form = { grant_type: preAuthorizedGrant, 'pre-authorized_code': code }
    expect(errorOf(await redeem(setup, form))).toEqual([400, 'invalid_grant'])
    expect((await recordOf(setup, recordId)).protocolState).toBe('OfferExpired')
  })

  test('a missing transaction code, one that is not expected, and wrong ones until the offer is blocked', async () => {
    const { credentialOffer, txCode, recordId } = await offer(setup, { txCode: true })
    expect(txCode).toMatch(/^\d{6}$/)
    const wrong = txCode === '000000' ? '000001' : '000000'
    expect(errorOf(await redeemOffer(setup, credentialOffer))).toEqual([400, 'invalid_request'])
    for (let guess = 1; guess <= 5; guess++)
      expect(errorOf(await redeemOffer(setup, credentialOffer, wrong))).toEqual([400, 'invalid_grant'])
    expect(errorOf(await redeemOffer(setup, credentialOffer, txCode))).toEqual([400, 'invalid_grant'])
    expect((await recordOf(setup, recordId)).protocolState).toBe('OfferBlocked')
    const { credentialOffer: plain } = await offer(setup)
    expect(errorOf(await redeemOffer(setup, plain, '123456'))).toEqual([400, 'invalid_request'])
    const second = await offer(setup, { txCode: true })
    await redeemOffer(setup, second.credentialOffer, second.txCode === '111111' ? '2222222' : '111111')
    expect((await redeemOffer(setup, second.credentialOffer, second.txCode)).status).toBe(200)
  })

  test('malformed requests', async () => {
    const code = await codeOf((await offer(setup)).credentialOffer)
    const good = { grant_type: preAuthorizedGrant, 'pre-authorized_code': code }
    const twice = `${new URLSearchParams(good).toString()}&pre-authorized_code=${code}`
    const rows: [Record<string, string> | string, string][] = [
      ['', 'invalid_request'],
      [{ 'pre-authorized_code': code }, 'invalid_request'],
      [{ grant_type: preAuthorizedGrant }, 'invalid_request'],
      [{ grant_type: 'refresh_token', refresh_token: code }, 'invalid_grant'],
      [{ ...good, 'pre-authorized_code': 'unknown' }, 'invalid_grant'],
      [twice, 'invalid_request'],
    ]
    for (const [form, code_] of rows) expect(errorOf(await redeem(setup, form)), code_).toEqual([400, code_])
    const asJson = await ask(setup.agent, `POST /oid4vci/issuers/${setup.issuerId}/token`, { body: good })
    expect(asJson.status).toBe(415)
    expect((await redeem(setup, good)).status).toBe(200)
  })
})

describe('the credential endpoint refuses', () => {
  test('requests without a valid access token', async () => {
    const { token } = await redeemed(setup)
    const jwt = await prove(setup)
    for (const wrong of [undefined, 'unknown', `${token}x`]) {
      const reply = await request(setup, { token: wrong, jwt })
      expect(errorOf(reply)).toEqual([401, 'invalid_token'])
      expect(reply.headers.get('www-authenticate')).toContain('Bearer error="invalid_token"')
    }
    const target = `POST /oid4vci/issuers/${setup.issuerId}/credentials?access_token=${token}`
    const inQuery = await ask(setup.agent, target, { body: { credential_configuration_id: 'Person' } })
    expect(errorOf(inQuery)).toEqual([401, 'invalid_token'])
    const elsewhere = await request(other, { token, jwt: await prove(other) })
    expect(errorOf(elsewhere)).toEqual([401, 'invalid_token'])
    expect((await request(setup, { token, jwt })).status).toBe(200)
  })

  test('other requests, each with its code, and takes a valid one afterwards', async () => {
    const { token, recordId } = await redeemed(setup)
    const jwt = await prove(setup)
    const proofs = { jwt: [jwt] }
    const rows: [unknown, string][] = [
      [{ proofs }, 'invalid_credential_request'],
      [[], 'invalid_credential_request'],
      [{ credential_configuration_id: 1, proofs }, 'invalid_credential_request'],
      [{ credential_configuration_id: 'Other', proofs }, 'unknown_credential_configuration'],
      [{ format: 'ldp_vc', proof: { proof_type: 'jwt', jwt } }, 'unknown_credential_configuration'],
      [{ credential_identifier: 'Person', proofs }, 'unknown_credential_identifier'],
      [
        { credential_configuration_id: 'Person', credential_identifier: 'Person', proofs },
        'invalid_credential_request',
      ],
      [{ credential_configuration_id: 'Person' }, 'invalid_proof'],
      [{ credential_configuration_id: 'Person', proofs: { jwt: [] } }, 'invalid_proof'],
      [{ credential_configuration_id: 'Person', proofs: { jwt: jwt } }, 'invalid_proof'],
      [{ credential_configuration_id: 'Person', proofs: { jwt: [jwt, jwt] } }, 'invalid_proof'],
      [{ credential_configuration_id: 'Person', proofs: { jwt: Array(11).fill(jwt) } }, 'invalid_proof'],
      [{ credential_configuration_id: 'Person', proofs: { ldp_vp: [{}] } }, 'invalid_proof'],
      [
        { credential_configuration_id: 'Person', proofs, credential_response_encryption: { enc: 'A256GCM' } },
        'invalid_encryption_parameters',
      ],
    ]
    for (const [body, code] of rows)
      expect(errorOf(await request(setup, { token, body })), JSON.stringify(body)).toEqual([400, code])
    expect((await recordOf(setup, recordId)).metaLastFailure?.type).toBe('invalid_encryption_parameters')
    const trace = await setup.tenant.call('GET /traces/{id}', { path: { id: recordId } })
    expect(trace.records).toMatchObject([
      { failure: 'A request with credential_response_encryption must be encrypted.' },
    ])
    expect(trace.pending[0]).toMatchObject({ what: 'answer', state: 'OfferRedeemed' })
    expect((await request(setup, { token, jwt })).status).toBe(200)
    expect((await recordOf(setup, recordId)).metaLastFailure).toBeUndefined()
  })

  test('proofs that break one rule', async () => {
    const { token, recordId } = await redeemed(setup)
    const { longFormDid } = await newDid(setup.tenant, 'authentication')
    const rows: [string, Parameters<typeof prove>[1], string][] = [
      ['alg none', { header: { alg: 'none' } }, 'invalid_proof'],
      ['alg of another key', { header: { alg: 'ES256K' } }, 'invalid_proof'],
      ['no key', { header: { jwk: undefined } }, 'invalid_proof'],
      ['two keys', { header: { kid: `${longFormDid}#key-1` } }, 'invalid_proof'],
      ['x5c', { header: { jwk: undefined, x5c: ['MIIB'] } }, 'invalid_proof'],
      ['bare kid', { header: { jwk: undefined, kid: 'key-1' } }, 'invalid_proof'],
      ['foreign kid', { header: { jwk: undefined, kid: `${longFormDid}#key-1` } }, 'invalid_proof'],
      ['key of small order', unkeyedProof, 'invalid_proof'],
      ['another signer', { signer: generateKey('Ed25519') }, 'invalid_proof'],
      ['aud missing', { claims: { aud: undefined } }, 'invalid_proof'],
      ['nonce missing', { claims: { nonce: undefined } }, 'invalid_proof'],
      ['nonce invented', { claims: { nonce: 'invented' } }, 'invalid_nonce'],
      ['nonce of another issuer', { claims: { nonce: await newNonce(other) } }, 'invalid_nonce'],
    ]
    for (const [name, proof, code] of rows)
      expect(errorOf(await request(setup, { token, jwt: await prove(setup, proof) })), name).toEqual([
        400,
        code,
      ])
    expect(errorOf(await request(setup, { token, jwt: 'no.jwt' }))).toEqual([400, 'invalid_proof'])
    expect((await recordOf(setup, recordId)).protocolState).toBe('OfferRedeemed')
    expect((await request(setup, { token, jwt: await prove(setup) })).status).toBe(200)
  })

  test('a nonce that another credential was issued for', async () => {
    const [first, second] = [await redeemed(setup), await redeemed(setup)]
    const jwt = await prove(setup)
    expect((await request(setup, { token: first.token, jwt })).status).toBe(200)
    const again = await request(setup, { token: second.token, jwt })
    expect(errorOf(again)).toEqual([400, 'invalid_nonce'])
    expect((await request(setup, { token: second.token, jwt: await prove(setup) })).status).toBe(200)
  })
})

describe('offers', () => {
  test('with claims that break the schema, an unknown configuration or a foreign DID are refused', async () => {
    const { tenant, issuerId, issuingDID } = setup
    const good = { credentialConfigurationId: 'Person', issuingDID, claims: { name: 'Alice' } }
    const send = (body: typeof good) =>
      refusal(tenant.call('POST /oid4vci/issuers/{issuerId}/credential-offers', { path: { issuerId }, body }))
    expect((await send({ ...good, claims: {} as never })).status).toBe(422)
    expect((await send({ ...good, credentialConfigurationId: 'Other' })).status).toBe(404)
    expect((await send({ ...good, issuingDID: `did:prism:${'a'.repeat(64)}` })).status).toBe(400)
  })

  test('leave no secret in plain text in the wallet', async () => {
    const { credentialOffer, txCode, recordId } = await offer(setup, { txCode: true })
    const code = await codeOf(credentialOffer)
    const token = (await redeemOffer(setup, credentialOffer, txCode)).body.access_token
    const { thid } = await setup.tenant.call('GET /issue-credentials/records/{recordId}', {
      path: { recordId },
    })
    const rows = await setup.agent.agent.wallets.use(setup.tenant.walletId, async ({ db }) => [
      ...(await db.selectFrom('issuance_grant').selectAll().where('id', '=', thid).execute()),
      ...(await db.selectFrom('issuance_token').selectAll().where('grant_id', '=', thid).execute()),
    ])
    expect(rows).toHaveLength(2)
    for (const secret of [code, txCode!, token]) expect(JSON.stringify(rows)).not.toContain(secret)
    const events = await setup.tenant.call('GET /events', { query: { limit: 1_000 } })
    for (const secret of [code, token]) expect(JSON.stringify(events)).not.toContain(secret)
  })

  test('are withdrawn with their record', async () => {
    const { credentialOffer, recordId } = await offer(setup)
    await setup.tenant.call('DELETE /issue-credentials/records/{recordId}', { path: { recordId } })
    expect(errorOf(await redeemOffer(setup, credentialOffer))).toEqual([400, 'invalid_grant'])
  })

  test('of a deleted issuer cannot be redeemed', async () => {
    const third = await addIssuer(setup.agent, setup.tenant)
    const { credentialOffer } = await offer(third)
    const code = await codeOf(credentialOffer)
    await setup.tenant.call('DELETE /oid4vci/issuers/{issuerId}', { path: { issuerId: third.issuerId } })
    const form = { grant_type: preAuthorizedGrant, 'pre-authorized_code': code }
    expect((await redeem(third, form)).status).toBe(404)
  })
})

test('the requests of an address are limited', async () => {
  const limited = await startIssuer({ OID4VCI_REQUESTS_PER_MINUTE: '2' })
  await using agent = limited.agent
  const nonce = () => ask(agent, `POST /oid4vci/issuers/${limited.issuerId}/nonce`)
  expect([(await nonce()).status, (await nonce()).status, (await nonce()).status]).toEqual([200, 200, 429])
})
