/**
 * Wallet attestations and key attestations that the wallet makes itself, for an issuer that requires both and
 * trusts their root.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import { decodeHeader, decodeJws } from '../../../../src/credentials/codecs/jws.ts'
import { generateKey } from '../../../../src/foundation/crypto/keys.ts'
import { newDid, publishSchema, refusal, type Tenant } from '../../../support/tenants.ts'
import { trust } from '../_attestations.ts'
import { offer } from '../_wallet.ts'
import {
  accept,
  acceptOffer,
  consentAt,
  inState,
  licence,
  receive,
  show,
  startHolderPair,
} from './_holder.ts'
import { startFakeIssuer } from './_issuer.ts'
import { givesRefreshTokens, refresh, renewalOf, renewed } from './_refresh.ts'
import { untilEnd } from '../../../support/shared.ts'

const [pair, issuer] = await Promise.all([untilEnd(startHolderPair()), untilEnd(startFakeIssuer())])
const { setup, holder } = pair
const { id, root } = await newCertificate(holder)
const attestationCertificateId = id
const provider = { key: generateKey('P-256'), x5c: [], root: root! }
await trust(setup, provider)
const { did: author } = await newDid(setup.tenant, 'assertionMethod')
const schemaId = await publishSchema(setup.tenant, author, { name: 'permit' })
await setup.tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
  path: { issuerId: setup.issuerId },
  body: { configurationId: 'Permit', format: 'dc+sd-jwt', schemaId, keyAttestation: {} },
})
beforeEach(() => issuer.reset())

function newCertificate({ call }: Tenant) {
  const body = { commonName: 'Wallet', names: [{ type: 'uri' as const, value: 'https://wallet.example' }] }
  return call('POST /issuer-certificates/development', { body })
}

const permit = { ...licence, credentialConfigurationId: 'Permit', claims: { name: 'Alice' } }

describe('an issuer that requires attestations, and trusts the root of the wallet', () => {
  test.each([{}, permit])('issues %j for a pre-authorized code', async (options) => {
    const { setup, holder } = pair
    const { credentialOffer } = await offer(setup, { ...options, txCode: false })
    const { recordId } = await receive(holder, credentialOffer, { attestationCertificateId })
    await accept(holder, recordId)
    await inState(holder, recordId, 'CredentialReceived')
  })

  test.each([{}, permit])('issues %j for an authorization code', async (options) => {
    const { setup, holder } = pair
    const { credentialOffer } = await offer(setup, { ...options, grant: 'authorization_code', txCode: false })
    const { recordId } = await receive(holder, credentialOffer, { attestationCertificateId })
    const path = { recordId }
    const body = { redirectUri: 'https://wallet.example/callback' }
    const begin = 'POST /issue-credentials/records/{recordId}/begin-authorization'
    const begun = await holder.call(begin, { path, body })
    const complete = 'POST /issue-credentials/records/{recordId}/complete-authorization'
    await holder.call(complete, { path, body: await consentAt(setup, begun) })
    await inState(holder, recordId, 'CredentialReceived')
  })

  test('refuses a wallet whose root it does not trust', async () => {
    const { setup, holder, agent } = pair
    const stranger = await agent.newTenant('stranger')
    const { id } = await newCertificate(stranger)
    const { credentialOffer } = await offer(setup, { txCode: false })
    const { recordId } = await receive(stranger, credentialOffer, { attestationCertificateId: id })
    expect((await refusal(accept(stranger, recordId))).detail).toContain('invalid_client')
    expect((await show(stranger, recordId)).protocolState).toBe('OfferReceived')
    expect(await refusal(receive(holder, credentialOffer, { attestationCertificateId: id }))).toMatchObject({
      status: 404,
    })
  })

  test('is not asked without a certificate of the wallet', async () => {
    const { setup, holder } = pair
    const { credentialOffer } = await offer(setup, { txCode: false })
    expect(await refusal(receive(holder, credentialOffer))).toMatchObject({
      status: 400,
      detail: expect.stringContaining('attestationCertificateId is missing'),
    })
  })
})

/** The proof types of the fake issuer's SD-JWT VC. */
function requireProofs(proof_types_supported: object) {
  issuer.on('openid-credential-issuer', () => {
    const { Licence } = issuer.metadata.credential_configurations_supported
    const configurations = { Licence: { ...Licence, proof_types_supported } }
    return { body: { ...issuer.metadata, credential_configurations_supported: configurations } }
  })
}
const supported = { proof_signing_alg_values_supported: ['ES256'] }

test('an attestation is the proof if the issuer takes no other', async () => {
  requireProofs({ attestation: { ...supported, key_attestations_required: {} } })
  issuer.on('credential', ({ body }) => {
    const { attestation } = (JSON.parse(body) as { proofs: { attestation: [string] } }).proofs
    expect(decodeHeader(attestation[0])).toMatchObject({ typ: 'key-attestation+jwt', x5c: expect.any(Array) })
    const { payload } = decodeJws(attestation[0])
    expect(payload).toMatchObject({ nonce: 'nonce', iat: expect.any(Number), exp: expect.any(Number) })
    return { body: { credentials: [{ credential: issuer.issue(body) }] } }
  })
  await acceptOffer(pair.holder, issuer.offer(), 'CredentialReceived', { attestationCertificateId })
})

test('a resistance that the wallet does not attest is refused', async () => {
  const key_attestations_required = { key_storage: ['iso_18045_high'] }
  requireProofs({ jwt: { ...supported, key_attestations_required } })
  const refused = await refusal(receive(pair.holder, issuer.offer(), { attestationCertificateId }))
  expect(refused.detail).toContain('requires attested keys of iso_18045_high')
})

test('a challenge that the server demands is in the repeated proof', async () => {
  issuer.on('oauth-authorization-server', () => ({
    body: { ...issuer.authorization, token_endpoint_auth_methods_supported: ['attest_jwt_client_auth'] },
  }))
  const challenges: unknown[] = []
  issuer.on('token', ({ headers }, usual) => {
    const { payload } = decodeJws(String(headers['oauth-client-attestation-pop']))
    challenges.push(payload['challenge'])
    if (payload['challenge'] === 'one') return usual
    const error = { error: 'use_attestation_challenge' }
    return { status: 400, body: error, headers: { 'oauth-client-attestation-challenge': 'one' } }
  })
  await acceptOffer(pair.holder, issuer.offer(), 'CredentialReceived', { attestationCertificateId })
  expect(challenges).toEqual([undefined, 'one'])
})

test('a renewal has an attestation of the same key', async () => {
  givesRefreshTokens(issuer)
  issuer.on('oauth-authorization-server', () => ({
    body: {
      ...issuer.authorization,
      dpop_signing_alg_values_supported: ['ES256'],
      token_endpoint_auth_methods_supported: ['attest_jwt_client_auth'],
    },
  }))
  const { recordId } = await acceptOffer(pair.holder, issuer.offer(), 'CredentialReceived', {
    attestationCertificateId,
  })
  await refresh(pair.holder, recordId)
  expect(renewalOf(await renewed(pair.holder, recordId)).count).toBe(1)
  const keys = issuer.at('token').map(({ headers }) => {
    const { payload } = decodeJws(String(headers['oauth-client-attestation']))
    return JSON.stringify(payload['cnf'])
  })
  expect(keys).toHaveLength(2)
  expect(keys[1]).toBe(keys[0])
})
