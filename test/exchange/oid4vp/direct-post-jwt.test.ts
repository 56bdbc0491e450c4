/** Encrypted responses (direct_post.jwt). */
import { CompactEncrypt, importJWK } from 'jose'
import { expect, test } from 'vitest'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import {
  present,
  presentationOf,
  presentSdJwt,
  readRequest,
  requestProof,
  respond,
  startVerifier,
} from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const verifier = await untilEnd(startVerifier())

async function asked() {
  const options = { responseMode: 'direct_post.jwt' as const }
  const { presentationId, openid4vp } = await requestProof(verifier, options)
  const request = await readRequest(openid4vp!.authorizationRequest)
  return { presentationId, request, key: request.client_metadata.jwks.keys[0] }
}

type Changes = { enc?: string; alg?: string; kid?: string; key?: object; text?: string }

/** Encrypts the parameters of a response, as the request wants it but for the changes. */
async function encrypt(content: object, own: any, changes: Changes = {}): Promise<string> {
  const {
    key = own,
    enc = 'A128GCM',
    alg = 'ECDH-ES',
    kid = own.kid,
    text = JSON.stringify(content),
  } = changes
  return new CompactEncrypt(Buffer.from(text))
    .setProtectedHeader({ alg, enc, kid })
    .encrypt(await importJWK({ ...key }, alg))
}

const vpToken = async (request: any) => ({
  vp_token: { person: [await presentSdJwt(request)] },
  state: request.state,
})

test.each(['A128GCM', 'A256GCM'])('a response encrypted by %s is accepted', async (enc) => {
  const { presentationId, request, key } = await asked()
  expect(request).toMatchObject({
    response_mode: 'direct_post.jwt',
    client_metadata: { encrypted_response_enc_values_supported: ['A128GCM', 'A256GCM'] },
  })
  expect(key).toEqual({
    kty: 'EC',
    crv: 'P-256',
    use: 'enc',
    alg: 'ECDH-ES',
    kid: expect.any(String),
    x: expect.any(String),
    y: expect.any(String),
  })
  const response = await encrypt(await vpToken(request), key, { enc })
  expect(await respond(request, { response })).toMatchObject({ status: 200, body: {} })
  const { status, openid4vp } = await presentationOf(verifier, presentationId)
  expect([status, openid4vp!.credentials![0]!.claims]).toMatchObject([
    'PresentationVerified',
    { name: 'Alice' },
  ])
})

test('each request has a key of its own', async () => {
  const [one, other] = [await asked(), await asked()]
  expect(one.key.x).not.toBe(other.key.x)
  const response = await encrypt(await vpToken(one.request), other.key, { kid: one.key.kid })
  expect((await respond(one.request, { response })).status).toBe(400)
})

test.each<[string, Changes, string]>([
  ['with a content encryption that was not offered', { enc: 'A256CBC-HS512' }, 'cannot be decrypted'],
  ['with another key agreement', { alg: 'ECDH-ES+A256KW' }, 'cannot be decrypted'],
  ['to another key', { key: toPublic(generateKey('P-256')) }, 'cannot be decrypted'],
  ['with another key id', { kid: 'other' }, 'is for another key'],
  ['with a text', { text: '"a"' }, 'contains no JSON object'],
  ['with a member twice', { text: '{"state":"a","state":"b"}' }, 'names a member twice'],
  ['with a state that is not a text', { text: '{"state":1}' }, 'not text'],
])('a response %s is refused, and the request waits', async (_, changes, reason) => {
  const { presentationId, request, key } = await asked()
  const response = await encrypt(await vpToken(request), key, changes)
  const reply = await respond(request, { response })
  expect([reply.status, reply.body.error]).toEqual([400, 'invalid_request'])
  expect(reply.body.error_description).toContain(reason)
  expect((await presentationOf(verifier, presentationId)).status).toBe('RequestCreated')
})

test('the state in the encrypted response counts', async () => {
  const { request, key } = await asked()
  const response = await encrypt({ ...(await vpToken(request)), state: 'other' }, key)
  const reply = await respond(request, { response, state: request.state })
  expect(reply.body.error_description).toBe('state is not that of the request.')
})

test('presentations that are not encrypted are refused', async () => {
  const { presentationId, request } = await asked()
  const reply = await present(request, { person: [await presentSdJwt(request)] })
  expect([reply.status, reply.body.error_description]).toEqual([400, expect.stringContaining('encrypted')])
  expect((await presentationOf(verifier, presentationId)).status).toBe('RequestCreated')
})

test('an encrypted error ends the request', async () => {
  const { presentationId, request, key } = await asked()
  const response = await encrypt({ error: 'access_denied', state: request.state }, key)
  expect(await respond(request, { response })).toMatchObject({ status: 200 })
  expect((await presentationOf(verifier, presentationId)).status).toBe('ProblemReportReceived')
})

test('an error needs no encryption', async () => {
  const { presentationId, request } = await asked()
  expect((await respond(request, { error: 'access_denied', state: request.state })).status).toBe(200)
  expect((await presentationOf(verifier, presentationId)).status).toBe('ProblemReportReceived')
})

test('an encrypted response to a request for plain ones is refused', async () => {
  const { openid4vp } = await requestProof(verifier)
  const request = await readRequest(openid4vp!.authorizationRequest)
  const own = { ...toPublic(generateKey('P-256')), kid: 'a' }
  const response = await encrypt(await vpToken(request), own)
  expect((await respond(request, { response, state: request.state })).body.error_description).toContain(
    'vp_token is missing',
  )
})
