/**
 * Requests and responses over the Digital Credentials API (OpenID4VP 1.0 Appendix A), with constructed
 * responses.
 */
import { createHash, hash, X509Certificate } from 'node:crypto'
import { decodeProtectedHeader, flattenedVerify, importJWK, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { ask } from '../../support/ask.ts'
import { refusal } from '../../support/tenants.ts'
import { Webhook } from '../../support/webhook.ts'
import { answerTo, askedDigitally, encryptTo, shop, submit, submitFromPage } from './_digital.ts'
import {
  failureOf,
  newVerifierDid,
  present,
  presentationOf,
  presentSdJwt,
  readRequest,
  requestProof,
  startVerifier,
  type RequestOptions,
} from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const verifier = await untilEnd(startVerifier())
const did = await newVerifierDid(verifier)

const own = () => new URL(verifier.agent.url).origin
const statusOf = async (id: string) => (await presentationOf(verifier, id)).status

test('an unsigned request has neither client_id, state nor expected_origins', async () => {
  const { protocol, request, openid4vp } = await askedDigitally(verifier)
  expect(protocol).toBe('openid4vp-v1-unsigned')
  expect(Object.keys(request).toSorted()).toEqual([
    'client_metadata',
    'dcql_query',
    'nonce',
    'response_mode',
    'response_type',
  ])
  expect(request).toMatchObject({ response_type: 'vp_token', response_mode: 'dc_api' })
  expect(openid4vp).toMatchObject({ responseMode: 'dc_api', origins: [shop] })
})

test('a signed request has the client_id and the expected origins', async () => {
  const origins = [shop, 'https://checkout.shop.example:8443']
  const { protocol, openid4vp } = await askedDigitally(verifier, { did, origins })
  expect(protocol).toBe('openid4vp-v1-signed')
  const { request: jwt } = openid4vp.digitalRequest!.data as { request: string }
  const jwk = JSON.parse(Buffer.from(did.slice('did:jwk:'.length), 'base64url').toString())
  const { payload, protectedHeader } = await jwtVerify(jwt, await importJWK(jwk, 'ES256'))
  expect(protectedHeader).toMatchObject({ typ: 'oauth-authz-req+jwt', kid: `${did}#0` })
  expect(payload).toMatchObject({
    client_id: `decentralized_identifier:${did}`,
    expected_origins: origins,
    aud: 'https://self-issued.me/v2',
    response_mode: 'dc_api',
    exp: Date.parse(openid4vp.expiresAt) / 1_000,
  })
  for (const absent of ['state', 'response_uri', 'redirect_uri']) expect(payload).not.toHaveProperty(absent)
})

test('a DID and a certificate sign the same request, each with its client id', async () => {
  const names = [{ type: 'dns' as const, value: 'shop.example' }]
  const body = { commonName: 'Shop', names }
  const { id: certificateId, x5c } = await verifier.tenant.call('POST /issuer-certificates/development', {
    body,
  })
  const verifierInfo = [{ format: 'jwt', data: 'attestation' }]
  const options = { did, certificateId, verifierInfo }
  const { presentationId, protocol, openid4vp } = await askedDigitally(verifier, options)
  expect(protocol).toBe('openid4vp-v1-multisigned')
  const { request: jws } = openid4vp.digitalRequest!.data as { request: any }
  const jwk = JSON.parse(Buffer.from(did.slice('did:jwk:'.length), 'base64url').toString())
  const certificate = new X509Certificate(Buffer.from(x5c![0]!, 'base64'))
  const keys = [await importJWK(jwk, 'ES256'), certificate.publicKey]
  const hash = createHash('sha256').update(certificate.raw).digest('base64url')
  const clientIds = [`decentralized_identifier:${did}`, `x509_hash:${hash}`]
  expect(jws.signatures).toHaveLength(2)
  for (const [index, signature] of jws.signatures.entries()) {
    const { payload, protectedHeader } = await flattenedVerify(
      { payload: jws.payload, ...signature },
      keys[index]!,
    )
    expect(protectedHeader).toMatchObject({
      typ: 'oauth-authz-req+jwt',
      client_id: clientIds[index],
      verifier_info: verifierInfo,
    })
    const content = JSON.parse(Buffer.from(payload).toString())
    expect(content).toMatchObject({ expected_origins: [shop], response_mode: 'dc_api' })
    for (const absent of ['client_id', 'verifier_info']) expect(content).not.toHaveProperty(absent)
  }
  const { nonce } = JSON.parse(Buffer.from(jws.payload, 'base64url').toString())
  const reply = await submit(verifier, { presentationId, protocol }, await answerTo({ nonce }))
  expect(reply.body.status).toBe('PresentationVerified')
})

test.each<[string, () => RequestOptions]>([
  ['unsigned', () => ({})],
  ['signed', () => ({ did })],
])('the response of a wallet to the own page of the tenant is verified: %s', async (_, toOptions) => {
  const webhook = await Webhook.open()
  await verifier.tenant.call('POST /events/webhooks', { body: { url: webhook.url } })
  const asked = await askedDigitally(verifier, toOptions())
  const reply = await submit(verifier, asked, await answerTo(asked.request))
  expect(reply).toMatchObject({
    status: 200,
    body: {
      status: 'PresentationVerified',
      openid4vp: { credentials: [{ claims: { name: 'Alice' } }] },
    },
  })
  expect(reply.body.openid4vp.checks.every(({ result }: { result: string }) => result === 'passed')).toBe(
    true,
  )
  await webhook.waitFor('verified', ({ data }) => data['status'] === 'PresentationVerified')
  await webhook[Symbol.asyncDispose]()
})

test('the page of the request sends the response from its own origin', async () => {
  const asked = await askedDigitally(verifier, { origins: [own()], redirectUri: 'https://shop.example/done' })
  const answer = await answerTo(asked.request, own())
  const reply = await submitFromPage(asked, answer, own())
  expect(reply.status).toBe(200)
  const { searchParams, origin } = new URL(reply.body.redirect_uri)
  expect(origin).toBe(shop)
  const responseCode = searchParams.get('response_code')!
  expect(await submitFromPage(asked, answer, own())).toMatchObject({ status: 200, body: reply.body })
  const { presentationId } = asked
  const redeemed = await verifier.tenant.call(
    'POST /present-proof/presentations/{presentationId}/response-code',
    { path: { presentationId }, body: { responseCode } },
  )
  expect(redeemed.status).toBe('PresentationVerified')
})

test('an encrypted response is verified, and each request has a key of its own', async () => {
  const asked = await askedDigitally(verifier, { responseMode: 'dc_api.jwt' })
  expect(asked.request).toMatchObject({
    response_mode: 'dc_api.jwt',
    client_metadata: { encrypted_response_enc_values_supported: ['A128GCM', 'A256GCM'] },
  })
  const header = { apu: 'YXB1', apv: 'YXB2' }
  const response = await encryptTo(asked.request, await answerTo(asked.request), { header })
  expect(decodeProtectedHeader(response)).toMatchObject(header)
  expect((await submit(verifier, asked, { response })).body.status).toBe('PresentationVerified')
})

test.each<[string, string, (request: any) => Promise<object>]>([
  ['for another origin', 'audience', (request) => answerTo(request, 'https://thief.example')],
  [
    'for the client id of a signed request',
    'audience',
    async (request) => answerTo(request, shop, { binding: { aud: `decentralized_identifier:${did}` } }),
  ],
  [
    'for the origin without prefix',
    'audience',
    (request) => answerTo(request, shop, { binding: { aud: shop } }),
  ],
])('a presentation %s ends the request with the failed check', async (_, check, answer) => {
  for (const options of [{}, { did }]) {
    const asked = await askedDigitally(verifier, options)
    const reply = await submit(verifier, asked, await answer(asked.request))
    expect(reply).toMatchObject({ status: 200, body: { status: 'PresentationVerificationFailed' } })
    expect(await failureOf(verifier, asked.presentationId)).toMatchObject([{ name: check }])
  }
})

test('a presentation of another request is not accepted', async () => {
  const [one, other] = [await askedDigitally(verifier), await askedDigitally(verifier)]
  const answer = await answerTo(one.request)
  await submit(verifier, one, answer)
  expect((await submit(verifier, other, answer)).body.status).toBe('PresentationVerificationFailed')
  expect(await failureOf(verifier, other.presentationId)).toMatchObject([{ name: 'nonce' }])
})

const encrypted: RequestOptions = { responseMode: 'dc_api.jwt' }
test.each<[string, string, RequestOptions, (request: any) => Promise<object>, object?]>([
  ['of an origin that was not expected', 'origin', {}, answerTo, { origin: 'https://thief.example' }],
  ['of another protocol', 'protocol', {}, answerTo, { protocol: 'openid4vp-v1-signed' }],
  ['in clear', 'encrypted', encrypted, answerTo],
  ['without presentations', 'vp_token is missing', {}, async () => ({})],
  ['with presentations as text', 'not an object', {}, async () => ({ vp_token: '{}' })],
  ['whose error is not a text', 'data', {}, async () => ({ error: 1 })],
])('a response %s is refused, and the request waits', async (_, reason, options, answer, more) => {
  const asked = await askedDigitally(verifier, options)
  const reply = await submit(verifier, asked, await answer(asked.request), more)
  expect([reply.status, reply.body.detail]).toEqual([400, expect.stringContaining(reason)])
  expect(await statusOf(asked.presentationId)).toBe('RequestCreated')
  expect((await submit(verifier, asked, { error: 'access_denied' })).body).toMatchObject({
    status: 'ProblemReportReceived',
    metaLastFailure: { type: 'access_denied' },
  })
})

test('with several origins, the tenant names that of its page', async () => {
  const origins = [shop, 'https://bank.example']
  const asked = await askedDigitally(verifier, { origins })
  const answer = await answerTo(asked.request, origins[1])
  expect((await submit(verifier, asked, answer)).body.detail).toContain('origin is missing')
  expect((await submit(verifier, asked, answer, { origin: origins[1] })).body.status).toBe(
    'PresentationVerified',
  )
})

// A daemon of this machine alone refuses other sites with 403 before that.
test.each(['https://localhost', 'https://127.0.0.1', undefined])(
  'the page of the request does not accept responses of the origin %s',
  async (origin) => {
    const asked = await askedDigitally(verifier, { origins: [own()] })
    const reply = await submitFromPage(asked, await answerTo(asked.request, own()), origin)
    expect([reply.status, reply.body.error_description]).toEqual([400, expect.stringContaining('origin')])
    expect(await statusOf(asked.presentationId)).toBe('RequestCreated')
  },
)

test('the same response gets the same answer, and another one is refused', async () => {
  const asked = await askedDigitally(verifier)
  const answer = await answerTo(asked.request)
  for (const _ of [1, 2])
    expect((await submit(verifier, asked, answer)).body.status).toBe('PresentationVerified')
  const other = await submit(verifier, asked, await answerTo(asked.request))
  expect(other.status).toBe(409)
  const failing = await askedDigitally(verifier)
  const wrong = await answerTo(failing.request, 'https://thief.example')
  for (const _ of [1, 2])
    expect((await submit(verifier, failing, wrong)).body.status).toBe('PresentationVerificationFailed')
})

test('transactions are authorized in the key binding', async () => {
  const transactionData = [{ type: 'payment', credential_ids: ['person'], amount: '10.00 EUR' }]
  const asked = await askedDigitally(verifier, { transactionData })
  const hashes = asked.request.transaction_data.map((text: string) => hash('sha256', text, 'base64url'))
  const binding = { transaction_data_hashes: hashes }
  expect((await submit(verifier, asked, await answerTo(asked.request, shop, { binding }))).body.status).toBe(
    'PresentationVerified',
  )
})

test('wallets without the browser respond to the same request by direct_post', async () => {
  const { openid4vp, presentationId } = await askedDigitally(verifier, { did })
  const request = await readRequest(openid4vp.authorizationRequest)
  expect(request).toMatchObject({ response_mode: 'direct_post', client_id: openid4vp.clientId })
  expect(request).not.toHaveProperty('expected_origins')
  expect((await present(request, { person: [await presentSdJwt(request)] })).status).toBe(200)
  expect(await statusOf(presentationId)).toBe('PresentationVerified')
  const encrypting = await askedDigitally(verifier, encrypted)
  const { response_mode } = await readRequest(encrypting.openid4vp.authorizationRequest)
  expect(response_mode).toBe('direct_post.jwt')
})

test('a presentation for an origin is not accepted by direct_post', async () => {
  const { openid4vp, presentationId } = await askedDigitally(verifier)
  const request = await readRequest(openid4vp.authorizationRequest)
  const { vp_token } = await answerTo(request)
  expect((await present(request, vp_token)).status).toBe(400)
  expect(await failureOf(verifier, presentationId)).toMatchObject([{ name: 'audience' }])
})

test('with directPost false, the request has the URL of its page alone', async () => {
  const { openid4vp, pageUrl, request } = await askedDigitally(verifier, { did, directPost: false })
  expect(openid4vp.authorizationRequest).toBe(pageUrl)
  expect((await ask({ url: '' }, `GET ${pageUrl.replace(/\/page$/, '')}`)).status).toBe(404)
  const response_uri = pageUrl.replace(/page$/, 'response')
  const reply = await present({ response_uri, state: 'any' }, { person: [await presentSdJwt(request)] })
  expect(reply.body.error_description).toContain('state')
})

test.each<[string, RequestOptions]>([
  ['responseMode', { responseMode: 'direct_post', origins: [shop] }],
  ['responseMode', { directPost: false, responseMode: 'direct_post' }],
  ['origins', { origins: ['http://shop.example'] }],
  ['origins', { origins: ['https://shop.example/'] }],
  ['origins', { origins: ['https://SHOP.example'] }],
  ['origins.0: has a wildcard', { origins: ['https://*.shop.example'] }],
  ['origins', { origins: ['javascript:alert(1)'] }],
  ['origins', { origins: [] }],
  ['verifierInfo', { verifierInfo: [{ format: 'jwt', data: 'a' }] }],
])('a request with a wrong %s is refused: %j', async (member, options) => {
  expect(await refusal(requestProof(verifier, { responseMode: 'dc_api', ...options }))).toMatchObject({
    status: 400,
    detail: expect.stringContaining(member),
  })
})

test('a request for wallets alone takes no response of a page', async () => {
  const { presentationId, openid4vp } = await requestProof(verifier)
  const asked = { presentationId, protocol: 'openid4vp-v1-unsigned' as const, pageUrl: openid4vp!.pageUrl }
  expect((await submit(verifier, asked, { error: 'access_denied' })).status).toBe(400)
  expect((await submitFromPage(asked, { error: 'access_denied' }, own())).status).toBe(400)
  expect(await statusOf(presentationId)).toBe('RequestCreated')
})
