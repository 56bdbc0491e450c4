/**
 * The modules of the OpenID Foundation's conformance suite for wallets (package `vp1finalwallet`), by their
 * names. A module that wants an error page passes if the request is refused with its reason and no
 * presentation is sent.
 */
import { compactDecrypt } from 'jose'
import { beforeEach, expect, test } from 'vitest'
import { generateKey, toPublic } from '../../../../src/foundation/crypto/keys.ts'
import { decodeSdJwt } from '../../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { refusal, until } from '../../../support/tenants.ts'
import { acceptRequest, act, credentialQuery, receive, receiveDigital, startWallet } from './_holder.ts'
import { digitallySigned, multisigned, newSigner, openVerifier, shop, toUrl, unsigned } from './_verifier.ts'
import { untilEnd } from '../../../support/shared.ts'

const wallet = await untilEnd(startWallet())
const verifier = await untilEnd(openVerifier())
beforeEach(() => verifier.reset())

/** Receives a request, accepts it, and returns the response. */
async function respond(url: string) {
  const record = await acceptRequest(wallet, url)
  return { record, form: Object.fromEntries(verifier.responses.at(-1)!) }
}

const presentationsOf = (form: Record<string, string>) =>
  JSON.parse(form['vp_token']!) as Record<string, string[]>

/** Expects that a request is refused, and returns the error that the verifier got. */
async function refused(url: string, reason: string) {
  expect(await refusal(receive(wallet.holder, url))).toMatchObject({
    status: 400,
    detail: expect.stringContaining(reason),
  })
  expect(verifier.responses.some((form) => form.has('vp_token') || form.has('response'))).toBe(false)
  return verifier.responses.at(-1)?.get('error')
}

test.each(['signed', 'by value'])('VP1FinalWalletHappyFlow: %s', async (kind) => {
  const url = kind === 'signed' ? verifier.offer(verifier.sign()) : toUrl(unsigned(verifier))
  const { form } = await respond(url)
  expect(Object.keys(form)).toEqual(['vp_token'])
  const { keyBinding, claims } = decodeSdJwt(presentationsOf(form)['person']![0]!)
  expect(claims).toEqual({ name: 'Alice' })
  expect(keyBinding).toBeDefined()
})

test('VP1FinalWalletAlternateHappyFlow', async () => {
  const [state, nonce] = ['s'.repeat(64), 'n'.repeat(43)]
  verifier.script.body = JSON.stringify({ redirect_uri: 'https://verifier.example/done#1' })
  const object = verifier.sign({ state, nonce, iss: 'another', unknown: [1] })
  const { record, form } = await respond(`${verifier.offer(object)}&unknown=a`)
  expect(form['state']).toBe(state)
  expect(record.openid4vpRequest!.redirectUri).toBe('https://verifier.example/done#1')
  const { response_uri: _, ...derived } = unsigned(verifier)
  await respond(toUrl(derived))
})

test('VP1FinalWalletFewerClaimsThanAvailable', async () => {
  const { form } = await respond(verifier.offer(verifier.sign()))
  expect(decodeSdJwt(presentationsOf(form)['person']![0]!).disclosures.map(({ path }) => path)).toEqual([
    ['name'],
  ])
})

test('VP1FinalWalletNoClaimsInDcqlQuery', async () => {
  const dcql_query = { credentials: [credentialQuery({ claims: [] })] }
  const { form } = await respond(verifier.offer(verifier.sign({ dcql_query })))
  expect(decodeSdJwt(presentationsOf(form)['person']![0]!).disclosures).toEqual([])
})

const passport = credentialQuery({ id: 'passport', types: ['https://credentials.example/passport'] })
const sets = (required: boolean) => ({
  credentials: [credentialQuery(), passport],
  credential_sets: [{ options: [['person']] }, { options: [['passport']], required }],
})

test('VP1FinalWalletOptionalCredentialSet', async () => {
  const { form } = await respond(verifier.offer(verifier.sign({ dcql_query: sets(false) })))
  expect(Object.keys(presentationsOf(form))).toEqual(['person'])
})

test('VP1FinalWalletRequiredNonMatchingCredential', async () => {
  const { presentationId } = await receive(
    wallet.holder,
    verifier.offer(verifier.sign({ dcql_query: sets(true) })),
  )
  expect((await refusal(act(wallet.holder, presentationId, { action: 'request-accept' }))).status).toBe(400)
  await act(wallet.holder, presentationId, { action: 'request-reject' })
  await until(
    'an error',
    () => Promise.resolve(verifier.responses),
    ({ length }) => length > 0,
  )
  expect(verifier.responses.map((form) => [form.get('error'), form.has('vp_token')])).toEqual([
    ['access_denied', false],
  ])
})

test.each(['A128GCM', 'A256GCM'])('VP1FinalWalletIgnoresUnusableEncryptionKey: %s', async (enc) => {
  const key = generateKey('P-256')
  const keys = [
    { kty: 'AKP', alg: 'ML-KEM-9', pub: 'AAAA', kid: 'a', use: 'enc' },
    { kty: 'MADE-UP', alg: 'X', kid: 'b' },
    { ...toPublic(generateKey('P-256')), alg: 'ES256', use: 'sig', kid: 'c' },
    { ...toPublic(key), alg: 'ECDH-ES', kid: 'd' },
  ]
  const client_metadata = { jwks: { keys }, encrypted_response_enc_values_supported: [enc] }
  const object = verifier.sign({ response_mode: 'direct_post.jwt', client_metadata, state: 'abc' })
  const { form } = await respond(verifier.offer(object))
  expect(Object.keys(form)).toEqual(['response'])
  const { plaintext, protectedHeader } = await compactDecrypt(form['response']!, { ...key })
  expect(protectedHeader).toMatchObject({ alg: 'ECDH-ES', enc, kid: 'd' })
  expect(JSON.parse(Buffer.from(plaintext).toString())).toMatchObject({
    state: 'abc',
    vp_token: { person: [{}] },
  })
})

test('VP1FinalWalletRequestUriMethodPost', async () => {
  const object = verifier.offer(({ form }) => verifier.sign({ wallet_nonce: form.get('wallet_nonce') }), {
    method: 'post',
  })
  await respond(object)
  const { method, form, headers, url } = verifier.fetched.at(-1)!
  expect(method).toBe('POST')
  expect(headers).toMatchObject({
    accept: 'application/oauth-authz-req+jwt',
    'content-type': 'application/x-www-form-urlencoded',
  })
  expect(url).not.toContain('?')
  expect([...form.keys()].toSorted()).toEqual(['wallet_metadata', 'wallet_nonce'])
  expect(JSON.parse(form.get('wallet_metadata')!)).toMatchObject({
    vp_formats_supported: { 'dc+sd-jwt': {} },
  })
})

test('VP1FinalWalletInvalidRequestObjectSignature', async () => {
  const object = verifier.sign({}, {}, generateKey('P-256'))
  expect(await refused(verifier.offer(object), 'signature')).toBeUndefined()
})

test('VP1FinalWalletMismatchedClientIdInRequestObject', async () => {
  const object = verifier.sign({ client_id: `redirect_uri:${verifier.responseUri}` })
  expect(await refused(verifier.offer(object), 'client_id')).toBeUndefined()
})

test('VP1FinalWalletMissingNonce', async () => {
  const object = verifier.sign({ nonce: undefined })
  expect(await refused(verifier.offer(object), 'nonce')).toBe('invalid_request')
})

test('VP1FinalWalletRedirectUriWithDirectPost', async () => {
  const object = verifier.sign({ redirect_uri: verifier.responseUri })
  expect(await refused(verifier.offer(object), 'redirect_uri')).toBe('invalid_request')
})

test('VP1FinalWalletResponseUriNotClientId', async () => {
  const request = unsigned(verifier, { response_uri: `${verifier.url}/another` })
  expect(await refused(toUrl(request), 'response_uri')).toBeUndefined()
})

test('VP1FinalWalletUnknownTransactionDataType', async () => {
  const data = Buffer.from(JSON.stringify({ type: 'unknown', credential_ids: ['person'] })).toString(
    'base64url',
  )
  const object = verifier.sign({ transaction_data: [data] })
  expect(await refused(verifier.offer(object), 'transaction_data')).toBe('invalid_transaction_data')
})

test('VP1FinalWalletInvalidClientIdPrefix', async () => {
  const client_id = `made_up:${verifier.did}`
  const object = verifier.sign({ client_id })
  expect(await refused(verifier.offer(object, { clientId: client_id }), 'made_up')).toBeUndefined()
})

test('VP1FinalWalletMultiSignedOneInvalidSignature', async () => {
  const [one, other] = [newSigner(), newSigner()]
  const invalid = { ...one, key: generateKey('P-256') }
  for (const signers of [
    [invalid, other],
    [other, invalid],
  ]) {
    const received = await receiveDigital(wallet.holder, multisigned(signers), shop)
    const { client_id: clientId } = other.header as { client_id?: string }
    expect(received.openid4vpRequest!.clientId).toBe(clientId)
    const { openid4vpRequest } = await act(wallet.holder, received.presentationId, {
      action: 'request-accept',
    })
    expect(openid4vpRequest!.digitalCredential).toMatchObject({
      protocol: 'openid4vp-v1-multisigned',
      data: { vp_token: { person: [expect.any(String)] } },
    })
  }
})

test('VP1FinalWalletWrongExpectedOrigins', async () => {
  const { header, key } = newSigner()
  for (const request of [
    digitallySigned(verifier, { expected_origins: ['https://thief.example'] }),
    multisigned([{ header, key }], { expected_origins: ['https://thief.example'] }),
  ])
    expect(await refusal(receiveDigital(wallet.holder, request, shop))).toMatchObject({
      status: 400,
      detail: expect.stringMatching(/expected_origins.*"invalid_request"/),
    })
})
