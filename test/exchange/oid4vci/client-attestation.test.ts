/**
 * Client authentication by wallet attestation: every rule of the attestation and of its proof, and the
 * binding of codes.
 */
import { expect, test } from 'vitest'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { ask } from '../../support/ask.ts'
import { refusal } from '../../support/tenants.ts'
import { attested, clientId, newProvider, trust, type ClientParts } from './_attestations.ts'
import { consent, offered, open, redirectUri } from './_authorization.ts'
import { newDpopNonce, post, proofFor } from './_dpop.ts'
import { faults } from './_schemas.ts'
import {
  addIssuer,
  codeOf,
  errorOf,
  offer,
  preAuthorizedGrant,
  prove,
  request,
  startIssuer,
  type Setup,
} from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const [setup, provider] = await Promise.all([untilEnd(startIssuer()), newProvider()])
await trust(setup, provider)

const now = () => Math.floor(Date.now() / 1_000)
const metadataOf = async ({ agent, issuerId }: Setup) =>
  (await ask(agent, `GET /.well-known/oauth-authorization-server/oid4vci/issuers/${issuerId}`)).body

/** A token request for a new offer with a pre-authorized code. */
async function preAuthorized(
  headers: Record<string, string>,
  form: Record<string, string> = {},
  by: Setup = setup,
) {
  const { credentialOffer, recordId } = await offer(by)
  const code = await codeOf(credentialOffer)
  const all = { grant_type: preAuthorizedGrant, 'pre-authorized_code': code, ...form }
  const send = () => post(by, 'token', all, undefined, headers)
  return { reply: await send(), send, recordId, code }
}

test('the metadata say that the issuer requires wallet attestations', async () => {
  const metadata = await metadataOf(setup)
  expect(faults('oauth_authorization_server_metadata', metadata)).toEqual([])
  expect(metadata).toMatchObject({
    token_endpoint_auth_methods_supported: ['attest_jwt_client_auth'],
    client_attestation_signing_alg_values_supported: ['ES256'],
    client_attestation_pop_signing_alg_values_supported: ['EdDSA', 'ES256K', 'ES256'],
    require_pushed_authorization_requests: true,
    'pre-authorized_grant_anonymous_access_supported': false,
  })
})

test('an attested wallet pushes its request, redeems the code and gets the credential, with DPoP', async () => {
  const key = generateKey('P-256')
  const dpopKey = generateKey('P-256')
  const nonce = await newDpopNonce(setup, attested(setup, provider, { key }))
  const { txCode, verifier, parameters } = await offered(setup)
  const form = { ...parameters, client_id: clientId }
  const dpop = (endpoint: string) => proofFor(setup, endpoint, { key: dpopKey, nonce })
  const pushed = await post(setup, 'par', form, dpop('par'), attested(setup, provider, { key }))
  expect(pushed.status, JSON.stringify(pushed.body)).toBe(201)
  const code = await consent(setup, { client_id: clientId, request_uri: pushed.body.request_uri }, txCode)
  const headers = attested(setup, provider, { key })
  const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
  // The attestation names the client.
  const { status, body } = await post(setup, 'token', grant, dpop('token'), headers)
  expect([status, body.token_type], JSON.stringify(body)).toEqual([200, 'DPoP'])
  const accessToken: string = body.access_token
  const proof = proofFor(setup, 'credentials', { key: dpopKey, nonce, accessToken })
  const issued = await ask(setup.agent, `POST /oid4vci/issuers/${setup.issuerId}/credentials`, {
    body: { credential_configuration_id: 'Person', proofs: { jwt: [await prove(setup)] } },
    headers: { authorization: `DPoP ${accessToken}`, dpop: proof },
  })
  expect(issued.status).toBe(200)
})

test('an attested wallet redeems a pre-authorized code', async () => {
  const { reply } = await preAuthorized(attested(setup, provider), { client_id: clientId })
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  const issued = await request(setup, { token: reply.body.access_token, jwt: await prove(setup) })
  expect(issued.status).toBe(200)
})

/** Faults of the attestation or of its proof, and the reason in the error. */
const faulty: [string, ClientParts | (() => Promise<ClientParts> | ClientParts), string][] = [
  ['no type', { attestation: { header: { typ: undefined } } }, "the header member 'typ'"],
  ['no sub', { attestation: { claims: { sub: undefined } } }, "the claim 'sub' is missing"],
  [
    'the sub of another client',
    { attestation: { claims: { sub: 'other' } } },
    'its sub is not the client_id',
  ],
  ['no exp', { attestation: { claims: { exp: undefined } } }, "the claim 'exp'"],
  ['exp in the past', { attestation: { claims: { exp: now() - 600 } } }, 'it has expired'],
  ['no key', { attestation: { claims: { cnf: {} } } }, "the claim 'cnf.jwk'"],
  ['a private key', { attestation: { claims: { cnf: { jwk: generateKey('P-256') } } } }, 'is private'],
  ['another signer', { signer: generateKey('P-256') }, 'not signed by the key of the first certificate'],
  ['no certificates', { attestation: { header: { x5c: undefined } } }, 'no key of a trusted wallet provider'],
  [
    'a provider that is not trusted',
    async () => {
      const { key, x5c } = await newProvider()
      return { signer: key, attestation: { header: { x5c } } }
    },
    'is not signed by the key of the next one',
  ],
  [
    'a proof of another type',
    { proof: { header: { typ: 'jwt' } } },
    "'typ' is not oauth-client-attestation-pop+jwt",
  ],
  ['a proof by another key', { prover: generateKey('P-256') }, 'the attested key did not make its signature'],
  ['a proof for another server', { proof: { claims: { aud: 'https://as.example' } } }, 'its aud is not'],
  [
    'a proof for two servers',
    () => ({ proof: { claims: { aud: [setup.identifier, 'b'] } } }),
    "the claim 'aud'",
  ],
  ['a proof without jti', { proof: { claims: { jti: undefined } } }, "the claim 'jti'"],
  ['a proof without iat', { proof: { claims: { iat: undefined } } }, "the claim 'iat'"],
  ['a proof of another client', { proof: { claims: { iss: 'other' } } }, 'its iss is not the client_id'],
]

test.each(faulty)('%s is refused at both endpoints', async (_, given, reason) => {
  const parts = typeof given === 'function' ? await given() : given
  const described = { error: 'invalid_client', error_description: expect.stringContaining(reason) }
  const form = { client_id: clientId }
  const token = await preAuthorized(attested(setup, provider, parts), form)
  expect([token.reply.status, token.reply.body]).toEqual([400, described])
  const { parameters } = await offered(setup)
  const headers = attested(setup, provider, parts)
  const pushed = await post(setup, 'par', { ...parameters, ...form }, undefined, headers)
  expect([pushed.status, pushed.body]).toEqual([400, described])
  // Nothing is used up.
  const all = { grant_type: preAuthorizedGrant, 'pre-authorized_code': token.code }
  expect((await post(setup, 'token', all, undefined, attested(setup, provider))).status).toBe(200)
})

test('an attestation or a proof alone, and none at all, are refused', async () => {
  const { 'oauth-client-attestation': attestation, 'oauth-client-attestation-pop': proof } = attested(
    setup,
    provider,
  )
  for (const [headers, missing] of [
    [{}, 'OAuth-Client-Attestation is missing'],
    [{ 'oauth-client-attestation-pop': proof! }, 'OAuth-Client-Attestation is missing'],
    [{ 'oauth-client-attestation': attestation! }, 'OAuth-Client-Attestation-PoP is missing'],
  ] as const) {
    const { body } = (await preAuthorized(headers)).reply
    expect([body.error, body.error_description]).toEqual(['invalid_client', expect.stringContaining(missing)])
  }
})

test('a proof is used once, at both endpoints together', async () => {
  const headers = attested(setup, provider)
  const { parameters } = await offered(setup)
  const push = () => post(setup, 'par', { ...parameters, client_id: clientId }, undefined, headers)
  expect((await push()).status).toBe(201)
  const again = await push()
  expect([...errorOf(again), again.body.error_description]).toEqual([
    400,
    'invalid_client',
    expect.stringContaining('its jti is known'),
  ])
  const { reply } = await preAuthorized(headers)
  expect(errorOf(reply)).toEqual([400, 'invalid_client'])
})

test('a code belongs to the attested key of the client that pushed the request', async () => {
  const key = generateKey('P-256')
  const { txCode, verifier, parameters } = await offered(setup)
  const headers = attested(setup, provider, { key })
  const pushed = await post(setup, 'par', { ...parameters, client_id: clientId }, undefined, headers)
  const { request_uri } = pushed.body
  const code = await consent(setup, { client_id: clientId, request_uri }, txCode)
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
  const redeem = (by: ClientParts) => post(setup, 'token', form, undefined, attested(setup, provider, by))
  const stolen = await redeem({ key: generateKey('P-256') })
  expect([...errorOf(stolen), stolen.body.error_description]).toEqual([
    400,
    'invalid_grant',
    expect.stringContaining('attested key'),
  ])
  expect((await redeem({ key })).status).toBe(200)
})

test('an authorization request that is not pushed is refused', async () => {
  const { parameters } = await offered(setup)
  const shown = await open(setup, { ...parameters, client_id: clientId })
  expect([shown.status, shown.location]).toEqual([400, undefined])
  expect(shown.text).toContain('requires pushed requests')
})

test('the trace shows why a wallet was refused', async () => {
  const { recordId } = await preAuthorized(attested(setup, provider, { prover: generateKey('P-256') }))
  const { parameters, recordId: pushedId } = await offered(setup)
  await post(setup, 'par', { ...parameters, client_id: clientId })
  const reasons = await Promise.all(
    [recordId, pushedId].map(async (id) => {
      const { steps } = await setup.tenant.call('GET /traces/{id}', { path: { id } })
      return steps.flatMap((step) => (step.kind === 'message' ? `${step.type}: ${step.failure}` : []))
    }),
  )
  expect(reasons.flat()).toEqual([
    'token-request: invalid_client: The proof of the wallet attestation is not accepted: the attested key did not make its signature.',
    'authorization-request: invalid_client: The wallet attestation is not accepted: the header OAuth-Client-Attestation is missing.',
  ])
})

test('with optional attestations, a wallet without one is served, and a wrong one is refused', async () => {
  const other = await addIssuer(setup.agent, setup.tenant)
  await trust(other, provider, 'optional')
  expect(await metadataOf(other)).toMatchObject({
    token_endpoint_auth_methods_supported: ['attest_jwt_client_auth', 'none'],
    'pre-authorized_grant_anonymous_access_supported': true,
  })
  expect((await preAuthorized({}, {}, other)).reply.status).toBe(200)
  const wrong = attested(other, provider, { prover: generateKey('P-256') })
  expect(errorOf((await preAuthorized(wrong, {}, other)).reply)).toEqual([400, 'invalid_client'])
  // The nonce of DPoP needs no attestation either.
  await newDpopNonce(other)
})

test('a code of an attested client is not redeemed without attestation', async () => {
  const other = await addIssuer(setup.agent, setup.tenant)
  await trust(other, provider, 'optional')
  const { txCode, verifier, parameters } = await offered(other)
  const form = { ...parameters, client_id: clientId }
  const { request_uri } = (await post(other, 'par', form, undefined, attested(other, provider))).body
  const code = await consent(other, { client_id: clientId, request_uri }, txCode)
  const grant = { grant_type: 'authorization_code', code, client_id: clientId, redirect_uri: redirectUri }
  const reply = await post(other, 'token', { ...grant, code_verifier: verifier })
  expect(errorOf(reply)).toEqual([400, 'invalid_grant'])
})

test('a provider can be trusted by its key, and no longer be trusted', async () => {
  const other = await addIssuer(setup.agent, setup.tenant)
  const key = generateKey('Ed25519')
  const path = { issuerId: other.issuerId }
  const jwks = { keys: [generateKey('P-256'), key].map((each) => ({ kid: 'a', ...toPublic(each) }) as never) }
  const body = { walletProviders: { jwks }, walletAttestation: 'required' as const }
  const patch = 'PATCH /oid4vci/issuers/{issuerId}'
  expect(await other.tenant.call(patch, { path, body })).toMatchObject(body)
  const by = { signer: key, attestation: { header: { x5c: undefined } } }
  expect((await preAuthorized(attested(other, provider, by), {}, other)).reply.status).toBe(200)
  expect(errorOf((await preAuthorized(attested(other, provider), {}, other)).reply)).toEqual([
    400,
    'invalid_client',
  ])
  const none = await refusal(other.tenant.call(patch, { path, body: { walletProviders: {} } }))
  expect(none).toMatchObject({ status: 400, detail: expect.stringContaining('walletAttestation') })
  const cleared = { walletProviders: {}, walletAttestation: 'optional' as const }
  expect(await other.tenant.call(patch, { path, body: cleared })).not.toHaveProperty('walletProviders')
  expect((await preAuthorized({}, {}, other)).reply.status).toBe(200)
})

test.each([
  [{ walletAttestation: 'required' }, 'walletProviders: required wallet attestations need'],
  [{ walletAttestation: 'always' }, 'walletAttestation'],
  [{ walletProviders: { certificates: 'a root' } }, 'walletProviders.certificates'],
  [{ walletProviders: { jwks: { keys: [generateKey('P-256')] } } }, 'is private and must not be there'],
  [
    { walletProviders: { jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }] } } },
    'is not a public key',
  ],
])('an issuer with %j is refused', async (body, reason) => {
  const { apiKey } = setup.tenant
  const { status, body: problem } = await ask(setup.agent, 'POST /oid4vci/issuers', { body, apiKey })
  expect([status, problem.detail]).toEqual([400, expect.stringContaining(reason)])
})
