/**
 * The wallet answers requests of the Digital Credentials API, which the platform passes on with the origin of
 * the page.
 */
import { compactDecrypt } from 'jose'
import { expect, test } from 'vitest'
import { generateKey, toPublic } from '../../../../src/foundation/crypto/keys.ts'
import { decodeSdJwt } from '../../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { refusal } from '../../../support/tenants.ts'
import { askedDigitally, shop } from '../_digital.ts'
import { decodeJwt, newVerifierDid, type RequestOptions } from '../_wallet.ts'
import { act, credentialQuery, inState, receiveDigital, startWallet } from './_holder.ts'
import {
  digitallySigned,
  digitalParameters,
  multisigned,
  newSigner,
  openVerifier,
  signedBy,
} from './_verifier.ts'
import { untilEnd } from '../../../support/shared.ts'

const wallet = await untilEnd(startWallet())
const signer = await untilEnd(openVerifier())
const did = await newVerifierDid(wallet.verifier)
const body = { commonName: 'Shop', names: [{ type: 'dns' as const, value: 'shop.example' }] }
const { tenant } = wallet.verifier
const certificateId = (await tenant.call('POST /issuer-certificates/development', { body })).id

const accept = { action: 'request-accept' }
const dcqlQuery = { credentials: [credentialQuery()] }
const unsigned = (changes: object = {}) => ({
  protocol: 'openid4vp-v1-unsigned',
  data: digitalParameters(changes),
})

/** Accepts a request, and returns the response for the page. */
async function respond(request: object, origin = shop) {
  const { presentationId } = await receiveDigital(wallet.holder, request, origin)
  const { openid4vpRequest } = await act(wallet.holder, presentationId, accept)
  await inState(wallet.holder.call, presentationId, 'PresentationSent')
  return openid4vpRequest!.digitalCredential as { protocol: string; data: any }
}

const bindingOf = ({ data }: { data: any }) =>
  decodeJwt(decodeSdJwt(data.vp_token.person[0]).keyBinding!).payload

test.each<[string, () => RequestOptions]>([
  ['unsigned', () => ({})],
  ['signed', () => ({ did })],
  ['encrypted', () => ({ did, responseMode: 'dc_api.jwt' })],
  ['signed by a DID and a certificate', () => ({ did, certificateId })],
])('the verifier of this project accepts the response: %s', async (_, toOptions) => {
  const { presentationId, openid4vp } = await askedDigitally(wallet.verifier, { dcqlQuery, ...toOptions() })
  const body = (await respond(openid4vp.digitalRequest!)) as never
  const path = { presentationId }
  const route = 'POST /present-proof/presentations/{presentationId}/digital-credential'
  const record = await wallet.verifier.tenant.call(route, { path, body })
  expect(record).toMatchObject({
    status: 'PresentationVerified',
    openid4vp: { credentials: [{ claims: { name: 'Alice' } }] },
  })
})

test('the audience is the origin, for signed requests too', async () => {
  for (const request of [unsigned({ nonce: 'n1' }), digitallySigned(signer, { nonce: 'n1' })]) {
    const { aud, nonce } = bindingOf(await respond(request))
    expect([aud, nonce]).toEqual([`origin:${shop}`, 'n1'])
  }
})

test('the record shows who asks, and what is known of it', async () => {
  const { openid4vpRequest: plain } = await receiveDigital(wallet.holder, unsigned(), shop)
  expect(plain).toMatchObject({
    clientId: `origin:${shop}`,
    responseUri: shop,
    digital: { protocol: 'openid4vp-v1-unsigned', origin: shop },
    verifier: { authentication: 'origin', isTrusted: false, responseHost: 'shop.example' },
  })
  const { openid4vpRequest: signed } = await receiveDigital(wallet.holder, digitallySigned(signer), shop)
  expect(signed).toMatchObject({
    clientId: `decentralized_identifier:${signer.did}`,
    verifier: { authentication: 'did', isTrusted: false },
  })
})

test('in an unsigned request, client_id and expected_origins are ignored', async () => {
  const thief = 'https://thief.example'
  const request = unsigned({
    client_id: `origin:${thief}`,
    expected_origins: [thief],
    state: 'abc',
    other: 1,
  })
  const credential = await respond(request)
  expect(bindingOf(credential).aud).toBe(`origin:${shop}`)
  expect(Object.keys(credential.data)).toEqual(['vp_token'])
})

test('an encrypted response has no other parameters', async () => {
  const key = generateKey('P-256')
  const keys = [{ ...toPublic(key), alg: 'ECDH-ES', kid: 'a' }]
  const request = unsigned({ response_mode: 'dc_api.jwt', client_metadata: { jwks: { keys } } })
  const { data } = await respond(request)
  expect(Object.keys(data)).toEqual(['response'])
  const { plaintext, protectedHeader } = await compactDecrypt(data.response, { ...key })
  expect(protectedHeader).toMatchObject({ alg: 'ECDH-ES', enc: 'A128GCM', kid: 'a' })
  expect(Object.keys(JSON.parse(Buffer.from(plaintext).toString()))).toEqual(['vp_token'])
})

test('a declined request gives the page an error without reasons', async () => {
  const { presentationId } = await receiveDigital(wallet.holder, unsigned(), shop)
  const { openid4vpRequest } = await act(wallet.holder, presentationId, { action: 'request-reject' })
  expect(openid4vpRequest!.digitalCredential!.data).toEqual({ error: 'access_denied' })
})

test('of several clients, the trusted one is shown', async () => {
  const [one, trusted] = [newSigner(), newSigner()]
  const { client_id: clientId = '' } = trusted.header as { client_id?: string }
  const value = clientId.replace('decentralized_identifier:', '')
  await wallet.holder.call('POST /trust-anchors', { body: { type: 'did', value } })
  const { openid4vpRequest } = await receiveDigital(wallet.holder, multisigned([one, trusted]), shop)
  expect(openid4vpRequest).toMatchObject({ clientId, verifier: { isTrusted: true } })
})

const none = (text: string) =>
  text
    .replace(/^[^.]+/, Buffer.from('{"typ":"oauth-authz-req+jwt","alg":"none"}').toString('base64url'))
    .replace(/[^.]+$/, '')
const toSigned = (changes: object) => digitallySigned(signer, changes)
test.each<[string, string, () => object]>([
  ['for another origin', 'expected_origins', () => toSigned({ expected_origins: ['https://thief.example'] })],
  ['for a prefix of the origin', 'expected_origins', () => toSigned({ expected_origins: [`${shop}/`] })],
  ['without expected_origins', 'expected_origins', () => toSigned({ expected_origins: undefined })],
  ['with empty expected_origins', 'expected_origins', () => toSigned({ expected_origins: [] })],
  ['without client_id', 'client_id', () => toSigned({ client_id: undefined })],
  ['with the reserved prefix', 'prefix', () => toSigned({ client_id: `origin:${shop}` })],
  ['that has expired', 'expired', () => toSigned({ exp: 1 })],
  ['for another aud', 'aud', () => toSigned({ aud: 'https://other.example' })],
  ['of direct_post', 'response_mode', () => toSigned({ response_mode: 'direct_post' })],
  ['without nonce', 'nonce', () => unsigned({ nonce: undefined })],
  ['without query', 'dcql_query', () => unsigned({ dcql_query: undefined })],
  ['of direct_post, unsigned', 'response_mode', () => unsigned({ response_mode: 'direct_post' })],
  ['without a key to encrypt to', 'jwks', () => unsigned({ response_mode: 'dc_api.jwt' })],
  ['with unknown transactions', 'transaction_data', () => unsigned({ transaction_data: ['e30'] })],
  ['without its signature', 'cannot be read', () => signedBy(none(toSigned({}).data.request as string))],
  [
    'signed by another key',
    'signature',
    () => digitallySigned({ did: signer.did, key: generateKey('P-256') }),
  ],
  [
    'whose signatures are all invalid',
    'signature',
    () => multisigned([newSigner(), newSigner()].map((each) => ({ ...each, key: generateKey('P-256') }))),
  ],
  [
    'with a client_id in the payload',
    'protected headers',
    () => multisigned([newSigner()], { client_id: 'a:b' }),
  ],
  ['without signatures', 'signatures', () => signedBy({ payload: 'e30', signatures: [] })],
])('a request %s is refused with the reason', async (_, reason, toRequest) => {
  expect(await refusal(receiveDigital(wallet.holder, toRequest(), shop))).toMatchObject({
    status: 400,
    detail: expect.stringContaining(reason),
  })
})

test('a request is answered once', async () => {
  const request = unsigned()
  await respond(request)
  expect((await refusal(receiveDigital(wallet.holder, request, shop))).status).toBe(409)
})

test('the origin belongs to a request of the platform', async () => {
  const { call } = wallet.holder
  const route = 'POST /present-proof/presentations/openid4vp/requests'
  for (const body of [
    {},
    { origin: shop, authorizationRequest: 'openid4vp://?a=b' },
    { digitalRequest: unsigned() },
  ])
    expect((await refusal(call(route, { body: body as never }))).status).toBe(400)
})
