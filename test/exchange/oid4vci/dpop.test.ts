/** Access tokens that are bound to a key (DPoP, RFC 9449), and the proofs that are refused. */
import { expect, test } from 'vitest'
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import { ask } from '../../support/ask.ts'
import { consent, offered, push, redeemAuthorized, redirectUri, type Parameters } from './_authorization.ts'
import { newDpopNonce, post, proofFor, thumbprintOf, type ProofParts } from './_dpop.ts'
import {
  errorOf,
  addIssuer,
  codeOf,
  newNonce,
  offer,
  preAuthorizedGrant,
  prove,
  redeemed,
  startIssuer,
  type Setup,
} from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const setup = await untilEnd(startIssuer())
const other = await addIssuer(setup.agent, setup.tenant)

const formOf = async (by: Setup = setup) => ({
  grant_type: preAuthorizedGrant,
  'pre-authorized_code': await codeOf((await offer(by)).credentialOffer),
})

/** An access token that is bound to a key, and a nonce for proofs. */
async function bound(key = generateKey('Ed25519')) {
  const nonce = await newDpopNonce(setup)
  const reply = await post(setup, 'token', await formOf(), proofFor(setup, 'token', { key, nonce }))
  expect([reply.status, reply.body.token_type]).toEqual([200, 'DPoP'])
  return { key, nonce, accessToken: reply.body.access_token as string }
}

async function take(accessToken: string, dpop: string | undefined, scheme = 'DPoP') {
  return ask(setup.agent, `POST /oid4vci/issuers/${setup.issuerId}/credentials`, {
    body: { credential_configuration_id: 'Person', proofs: { jwt: [await prove(setup)] } },
    headers: { authorization: `${scheme} ${accessToken}`, ...(dpop !== undefined && { dpop }) },
  })
}

test('a token is bound to the key of the proof, and gets the credential with a proof of that key', async () => {
  const { accessToken, ...parts } = await bound()
  const dpop = proofFor(setup, 'credentials', { accessToken, ...parts })
  expect((await take(accessToken, dpop)).body.credentials).toHaveLength(1)
})

test('each endpoint that takes a token takes a proof for its own URL only', async () => {
  const { accessToken, ...parts } = await bound()
  const proofOf = (endpoint: string) => proofFor(setup, endpoint, { accessToken, ...parts })
  const { body } = await take(accessToken, proofOf('credentials'))
  const notify = (dpop: string, scheme = 'DPoP') =>
    ask(setup.agent, `POST /oid4vci/issuers/${setup.issuerId}/notifications`, {
      body: { notification_id: body.notification_id, event: 'credential_accepted' },
      headers: { authorization: `${scheme} ${accessToken}`, dpop },
    })
  expect(errorOf(await notify(proofOf('credentials')))).toEqual([401, 'invalid_dpop_proof'])
  expect(errorOf(await notify(proofOf('notifications'), 'Bearer'))).toEqual([401, 'invalid_token'])
  expect((await notify(proofOf('notifications'))).status).toBe(204)
})

test('a proof without a valid nonce gets one, and the code stays usable', async () => {
  const form = await formOf()
  const key = generateKey('secp256k1')
  const nonces = [undefined, 'unknown', await newDpopNonce(other), await newNonce(setup)]
  for (const nonce of nonces) {
    const refused = await post(setup, 'token', form, proofFor(setup, 'token', { key, nonce }))
    expect(errorOf(refused)).toEqual([400, 'use_dpop_nonce'])
    expect(refused.headers.get('dpop-nonce')).toEqual(expect.any(String))
  }
  const { nonce, accessToken } = await bound(key)
  expect((await post(setup, 'token', form, proofFor(setup, 'token', { key, nonce }))).status).toBe(200)
  const refused = await take(accessToken, proofFor(setup, 'credentials', { key, accessToken }))
  expect(errorOf(refused)).toEqual([401, 'use_dpop_nonce'])
  expect(refused.headers.get('www-authenticate')).toMatch(/^DPoP .*error="use_dpop_nonce"/)
  expect(refused.headers.get('dpop-nonce')).toEqual(expect.any(String))
})

test('a stolen token is useless: without a proof, with that of another key, and as bearer token', async () => {
  const { accessToken, key, nonce } = await bound()
  const valid = () => proofFor(setup, 'credentials', { accessToken, key, nonce })
  const thief = proofFor(setup, 'credentials', { accessToken, nonce })
  expect(errorOf(await take(accessToken, undefined))).toEqual([401, 'invalid_dpop_proof'])
  expect(errorOf(await take(accessToken, thief))).toEqual([401, 'invalid_dpop_proof'])
  expect(errorOf(await take(accessToken, valid(), 'Bearer'))).toEqual([401, 'invalid_token'])
  expect(errorOf(await take(accessToken, undefined, 'Bearer'))).toEqual([401, 'invalid_token'])
  const bearer = (await redeemed(setup)).token
  const proof = proofFor(setup, 'credentials', { accessToken: bearer, key, nonce })
  expect(errorOf(await take(bearer, proof))).toEqual([401, 'invalid_token'])
  expect((await take(accessToken, valid())).status).toBe(200)
})

test('a proof is used once, at the token endpoint and at the credential endpoint', async () => {
  const { accessToken, key, nonce } = await bound()
  const form = await formOf()
  const dpop = proofFor(setup, 'token', { key, nonce })
  expect((await post(setup, 'token', await formOf(), dpop)).status).toBe(200)
  expect(errorOf(await post(setup, 'token', form, dpop))).toEqual([400, 'invalid_dpop_proof'])
  const proof = proofFor(setup, 'credentials', { accessToken, key, nonce })
  expect((await take(accessToken, proof)).status).toBe(200)
  expect(errorOf(await take(accessToken, proof))).toEqual([401, 'invalid_dpop_proof'])
})

const key = generateKey('Ed25519')
const faults: [string, ProofParts][] = [
  ['for another endpoint', { claims: { htu: 'https://issuer.example/token' } }],
  ['for another method', { claims: { htm: 'GET' } }],
  ['for another access token', { accessToken: 'another' }],
  ['for no access token', { claims: { ath: undefined } }],
  ['without a key', { header: { jwk: undefined } }],
  ['signed by another key', { signer: generateKey('Ed25519') }],
  ['of another key', { header: { jwk: { ...generateKey('Ed25519'), d: undefined } } }],
  ['without a signature', { header: { alg: 'none' } }],
  ['without a time', { claims: { iat: undefined } }],
  ['without an id', { claims: { jti: undefined } }],
]
test.each(faults)('a proof %s is refused', async (_, parts) => {
  const { accessToken, nonce } = await bound(key)
  const valid = { accessToken, key, nonce }
  const refused = await take(accessToken, proofFor(setup, 'credentials', { ...valid, ...parts }))
  expect(errorOf(refused)).toEqual([401, 'invalid_dpop_proof'])
  expect(refused.headers.get('www-authenticate')).toMatch(/^DPoP /)
  expect((await take(accessToken, proofFor(setup, 'credentials', valid))).status).toBe(200)
})

test('two proofs are none, and neither is a text', async () => {
  const { accessToken, key: own, nonce } = await bound()
  const valid = proofFor(setup, 'credentials', { accessToken, key: own, nonce })
  for (const dpop of ['text', `${valid}, ${valid}`])
    expect(errorOf(await take(accessToken, dpop))).toEqual([401, 'invalid_dpop_proof'])
})

test('a pushed request binds the code to the key of its proof, or to the key that it names', async () => {
  const own = generateKey('Ed25519')
  const nonce = await newDpopNonce(setup)
  const dpop = () => proofFor(setup, 'par', { key: own, nonce })
  for (const named of [undefined, thumbprintOf(own)]) {
    const { parameters, txCode, verifier } = await offered(setup)
    const request: Parameters = { ...parameters, dpop_jkt: named }
    const pushed =
      named === undefined ? await post(setup, 'par', request, dpop()) : await push(setup, request)
    expect(pushed.status).toBe(201)
    const code = await consent(setup, { client_id: 'wallet', request_uri: pushed.body.request_uri }, txCode)
    const form = {
      grant_type: 'authorization_code',
      code,
      client_id: 'wallet',
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }
    expect(errorOf(await redeemAuthorized(setup, { code, verifier }))).toEqual([400, 'invalid_grant'])
    const thief = await post(setup, 'token', form, proofFor(setup, 'token', { nonce }))
    expect(errorOf(thief)).toEqual([400, 'invalid_grant'])
    const reply = await post(setup, 'token', form, proofFor(setup, 'token', { key: own, nonce }))
    expect([reply.status, reply.body.token_type]).toEqual([200, 'DPoP'])
  }
  const { parameters } = await offered(setup)
  const mixed = await post(setup, 'par', { ...parameters, dpop_jkt: 'another' }, dpop())
  expect(errorOf(mixed)).toEqual([400, 'invalid_dpop_proof'])
})
