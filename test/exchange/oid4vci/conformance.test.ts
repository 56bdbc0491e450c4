/**
 * The modules of the OpenID Foundation's conformance suite for credential issuers, by their names there
 * (package `vci10issuer`, commit of 2026-11). The suite needs Java and containers, so each module that the
 * issuer can pass is a test here: a wallet that pushes its request, with PKCE and DPoP, as the suite's does.
 * The documentation has the same table.
 */
import { decodeJwtVc } from '../../credentials/codecs/_verify.ts'
import { importJWK, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { toBase64url } from '../../../src/foundation/bytes.ts'
import { decodeSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { generateKey, type PrivateJwk } from '../../../src/foundation/crypto/keys.ts'
import { ask, type Reply } from '../../support/ask.ts'
import { publishSchema } from '../../support/tenants.ts'
import { attested, attestKeys, clientId, newProvider, trust, type ClientParts } from './_attestations.ts'
import { consent, offered, redirectUri } from './_authorization.ts'
import { decryptResponse, encryptRequest, newResponseKey } from './_encryption.ts'
import { newDpopNonce, post, proofFor } from './_dpop.ts'
import { faults } from './_schemas.ts'
import {
  addIssuer,
  codeOf,
  errorOf,
  newNonce,
  offer,
  preAuthorizedGrant,
  prove,
  request,
  startIssuer,
} from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'
import { documented } from '../_conformance.ts'

const setup = await untilEnd(startIssuer())
const { tenant, issuerId, issuingDID } = setup
const schemaId = await publishSchema(tenant, issuingDID, { name: 'licence' })
await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
  path: { issuerId },
  body: { configurationId: 'Licence', format: 'dc+sd-jwt', schemaId },
})

/** An issuer that requires wallet attestations, and a provider that it trusts. */
const attestedSetup = await addIssuer(setup.agent, setup.tenant)
const provider = await newProvider()
await trust(attestedSetup, provider)

/** Pushes a request as an attested client. The suite takes `invalid_client`, 400 or 401. */
async function pushAttested(parts: ClientParts): Promise<Reply> {
  const { parameters } = await offered(attestedSetup)
  const dpop = proofFor(attestedSetup, 'par', {
    nonce: await newDpopNonce(attestedSetup, attested(attestedSetup, provider)),
  })
  const headers = attested(attestedSetup, provider, parts)
  return post(attestedSetup, 'par', { ...parameters, client_id: clientId }, dpop, headers)
}

/** The same request with valid tokens is taken. */
async function expectRefusedClient(parts: ClientParts) {
  expect(errorOf(await pushAttested(parts))).toEqual([400, 'invalid_client'])
  expect((await pushAttested({})).status).toBe(201)
}

/** The access token of an attested client. */
async function redeemAttested(): Promise<string> {
  const form = {
    grant_type: preAuthorizedGrant,
    'pre-authorized_code': await codeOf((await offer(attestedSetup)).credentialOffer),
  }
  const headers = attested(attestedSetup, provider)
  return (await post(attestedSetup, 'token', form, undefined, headers)).body.access_token
}

type Granted = { accessToken: string; key: PrivateJwk; nonce: string; configuration: string }

/** A client with an access token for a new offer. */
async function authorize(configuration = 'Licence', client_id = 'wallet'): Promise<Granted> {
  const key = generateKey('P-256')
  const nonce = await newDpopNonce(setup)
  const dpop = (endpoint: string) => proofFor(setup, endpoint, { key, nonce })
  const { txCode, verifier, parameters } = await offered(setup, { credentialConfigurationId: configuration })
  const pushed = await post(setup, 'par', { ...parameters, client_id, scope: configuration }, dpop('par'))
  expect(pushed.status, JSON.stringify(pushed.body)).toBe(201)
  const { request_uri } = pushed.body
  const code = await consent(setup, { client_id, request_uri }, txCode)
  const form = { grant_type: 'authorization_code', code, client_id, redirect_uri: redirectUri }
  const { status, body } = await post(setup, 'token', { ...form, code_verifier: verifier }, dpop('token'))
  expect([status, body.token_type], JSON.stringify(body)).toEqual([200, 'DPoP'])
  return { accessToken: body.access_token, key, nonce, configuration }
}

function send(
  { accessToken, ...parts }: Granted,
  endpoint: 'credentials' | 'notifications',
  body: object,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const dpop = proofFor(setup, endpoint, { accessToken, ...parts })
  return ask(setup.agent, `POST /oid4vci/issuers/${setup.issuerId}/${endpoint}`, {
    body,
    headers: { authorization: `DPoP ${accessToken}`, dpop, ...headers },
  })
}

/**
 * Requests the credential with these proofs. `changes` replace members of the request; undefined removes
 * them.
 */
function take(granted: Granted, jwt: string[], changes: object = {}, headers?: Record<string, string>) {
  const body = { credential_configuration_id: granted.configuration, proofs: { jwt }, ...changes }
  expect(faults('credential_request-1_0', JSON.parse(JSON.stringify(body)))).toEqual([])
  return send(granted, 'credentials', body, headers)
}

/** The same with an encrypted request. */
async function takeEncrypted({ accessToken, ...parts }: Granted, members: object) {
  const body = await encryptRequest(setup, { credential_configuration_id: parts.configuration, ...members })
  const dpop = proofFor(setup, 'credentials', { accessToken, ...parts })
  const headers = { authorization: `DPoP ${accessToken}`, dpop }
  const type = 'application/jwt'
  return ask(setup.agent, `POST /oid4vci/issuers/${setup.issuerId}/credentials`, { body, headers, type })
}

async function happyFlow(configuration = 'Licence', client?: string) {
  const granted = await authorize(configuration, client)
  const holder = generateKey('P-256')
  const reply = await take(granted, [await prove(setup, { key: holder })])
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  expect(reply.headers.get('cache-control')).toBe('no-store')
  const { credential } = reply.body.credentials[0]
  const decoded = configuration === 'Licence' ? decodeSdJwt(credential) : decodeJwtVc(credential)
  expect(decoded).toMatchObject({ claims: { name: 'Alice' }, issuerDid: setup.issuingDID })
  return { granted, holder, reply }
}

/** A token whose signature is changed, as the suite changes it. */
function invalidated(jwt: string): string {
  const [header, payload, signature] = jwt.split('.') as [string, string, string]
  const bytes = Buffer.from(signature, 'base64url').map((byte) => byte ^ 0x5a)
  return `${header}.${payload}.${toBase64url(bytes)}`
}

const modules: Record<string, () => Promise<void>> = {
  async VCIIssuerMetadataTest() {
    const target = `/.well-known/openid-credential-issuer/oid4vci/issuers/${setup.issuerId}`
    const { body } = await ask(setup.agent, `GET ${target}`)
    expect(faults('credential_issuer_metadata-1_0', body)).toEqual([])
    expect(body.credential_issuer).toBe(setup.identifier)
    const server = target.replace('openid-credential-issuer', 'oauth-authorization-server')
    expect(
      faults('oauth_authorization_server_metadata', (await ask(setup.agent, `GET ${server}`)).body),
    ).toEqual([])
  },

  async VCIIssuerMetadataSignedTest() {
    const { tenant, issuerId, identifier } = setup
    const names = [{ type: 'uri' as const, value: identifier }]
    const { id, publicKey } = await tenant.call('POST /issuer-certificates/development', {
      body: { commonName: 'Acme', names },
    })
    const change = { path: { issuerId }, body: { issuerCertificateId: id } }
    await tenant.call('PATCH /oid4vci/issuers/{issuerId}', change)
    const target = `GET /.well-known/openid-credential-issuer/oid4vci/issuers/${issuerId}`
    const unsigned = await ask(setup.agent, target)
    const signed = await ask(setup.agent, target, { headers: { accept: 'application/jwt' } })
    expect(signed.headers.get('content-type')).toMatch(/^application\/jwt/)
    const { protectedHeader, payload } = await jwtVerify(signed.body, await importJWK(publicKey, 'ES256'))
    expect(protectedHeader).toMatchObject({ typ: 'openidvci-issuer-metadata+jwt', x5c: [expect.any(String)] })
    const { sub, iat, exp, ...metadata } = payload
    expect(sub).toBe(identifier)
    expect(iat).toBeLessThanOrEqual(exp!)
    expect(metadata).toEqual(unsigned.body)
    expect(faults('credential_issuer_metadata-1_0', metadata)).toEqual([])
  },

  async VCIIssuerHappyFlow() {
    for (const configuration of ['Licence', 'Person']) {
      const { granted, reply } = await happyFlow(configuration)
      const { notification_id } = reply.body
      const accepted = await send(granted, 'notifications', { notification_id, event: 'credential_accepted' })
      expect(accepted.status).toBe(204)
    }
  },

  async VCIIssuerHappyFlowAdditionalRequests() {
    const { granted, holder, reply } = await happyFlow()
    for (const headers of [
      { 'x-fapi-customer-ip-address': '2001:db8::1893:25c8:1946' },
      { accept: 'application/json;charset=utf-8' },
      { 'x-fapi-auth-date': 'Sun, 13 Dec 2026 09:53:21 GMT' },
    ]) {
      const again = await take(granted, [await prove(setup, { key: holder })], {}, headers)
      expect([again.status, again.body]).toEqual([200, reply.body])
    }
  },

  async VCIIssuerHappyFlowMultipleClients() {
    const [first, second] = [await happyFlow('Licence', 'one'), await happyFlow('Licence', 'two')]
    const stolen = { ...first.granted, accessToken: second.granted.accessToken }
    expect(errorOf(await take(stolen, [await prove(setup)]))).toEqual([401, 'invalid_dpop_proof'])
  },

  async VCIIssuerHappyFlowWithSkipNotification() {
    await happyFlow()
    await happyFlow()
  },

  async VCIIssuerBatchIssuance() {
    const granted = await authorize()
    const nonce = await newNonce(setup)
    const keys = [1, 2, 3].map(() => generateKey('P-256'))
    const jwt = await Promise.all(keys.map((key) => prove(setup, { key, claims: { nonce } })))
    const { body } = await take(granted, jwt)
    const all = body.credentials.map(({ credential }: { credential: string }) => decodeSdJwt(credential))
    expect(all.map(({ holderKey }: any) => holderKey.x)).toEqual(keys.map(({ x }) => x))
    expect(new Set(all.map(({ claims }: any) => JSON.stringify(claims))).size).toBe(1)
    const salts = all.flatMap(({ disclosures }: any) => disclosures.map(({ encoded }: any) => encoded))
    expect(new Set(salts).size).toBe(salts.length)
    for (const { payload } of all) expect([payload.iat % 3_600, payload.exp % 3_600]).toEqual([0, 0])
  },

  async VCIIssuerFailOnUnsupportedEncryptionAlgorithm() {
    const supported = newResponseKey()
    const unsupported = newResponseKey({ alg: 'UNSUPPORTED_ALG' })
    const granted = await authorize()
    const jwt = [await prove(setup)]
    const { parameters: credential_response_encryption } = unsupported
    const refused = await takeEncrypted(granted, { proofs: { jwt }, credential_response_encryption })
    expect(errorOf(refused)).toEqual([400, 'invalid_encryption_parameters'])
    // The happy flow of the variant `encrypted`.
    const issued = await takeEncrypted(granted, {
      proofs: { jwt },
      credential_response_encryption: supported.parameters,
    })
    const { body } = await decryptResponse(issued.body, supported)
    expect(body.credentials).toHaveLength(1)
  },

  async VCIIssuerFailOnInvalidNonce() {
    const jwt = await prove(setup, { claims: { nonce: 'a-random-nonce' } })
    expect(errorOf(await take(await authorize(), [jwt]))).toEqual([400, 'invalid_nonce'])
  },

  async VCIIssuerFailOnInvalidJwtProofSignature() {
    const jwt = await prove(setup, { key: generateKey('P-256'), signer: generateKey('P-256') })
    expect(errorOf(await take(await authorize(), [jwt]))).toEqual([400, 'invalid_proof'])
  },

  async VCIIssuerFailOnMissingProof() {
    expect(errorOf(await take(await authorize(), [], { proofs: undefined }))).toEqual([400, 'invalid_proof'])
  },

  async VCIIssuerFailOnRequestWithAccessTokenInQuery() {
    const { accessToken, configuration, ...parts } = await authorize()
    const dpop = proofFor(setup, 'credentials', { accessToken, ...parts })
    const path = `/oid4vci/issuers/${setup.issuerId}/credentials?access_token=${accessToken}`
    const body = { credential_configuration_id: configuration, proofs: { jwt: [await prove(setup)] } }
    expect(errorOf(await ask(setup.agent, `POST ${path}`, { body, headers: { dpop } }))).toEqual([
      401,
      'invalid_token',
    ])
  },

  async VCIIssuerFailOnUnknownCredentialConfigurationId() {
    const reply = await take(await authorize(), [await prove(setup)], {
      credential_configuration_id: 'Nothing',
    })
    expect(errorOf(reply)).toEqual([400, 'unknown_credential_configuration'])
  },

  async VCIIssuerFailOnUnknownCredentialIdentifier() {
    const changes = { credential_configuration_id: undefined, credential_identifier: 'unknown' }
    const reply = await take(await authorize(), [await prove(setup)], changes)
    expect(errorOf(reply)).toEqual([400, 'unknown_credential_identifier'])
  },

  async VCIIssuerFailOnInvalidKeyAttestationSignature() {
    const right = attestKeys(provider, [generateKey('P-256')], await newNonce(attestedSetup))
    const token = await redeemAttested()
    const send = (attestation: string) => {
      const body = { credential_configuration_id: 'Person', proofs: { attestation: [attestation] } }
      return request(attestedSetup, { token, body })
    }
    expect(errorOf(await send(invalidated(right)))).toEqual([400, 'invalid_proof'])
    expect((await send(right)).status).toBe(200)
  },

  async VCIIssuerFailOnClientAttestationExpInPast() {
    const exp = Math.floor(Date.now() / 1_000) - 600
    await expectRefusedClient({ attestation: { claims: { exp } } })
  },

  async VCIIssuerFailOnClientAttestationNoSub() {
    await expectRefusedClient({ attestation: { claims: { sub: undefined } } })
  },

  async VCIIssuerFailOnClientAttestationPopWrongAud() {
    await expectRefusedClient({ proof: { claims: { aud: 'https://other.example' } } })
  },

  async VCIIssuerFailOnInvalidClientAttestationSignature() {
    await expectRefusedClient({ signer: generateKey('P-256') })
  },

  async VCIIssuerFailOnInvalidClientAttestationPopSignature() {
    const { parameters } = await offered(attestedSetup)
    const name = 'oauth-client-attestation-pop'
    const { [name]: proof, ...rest } = attested(attestedSetup, provider)
    const headers = { ...rest, [name]: invalidated(proof!) }
    const reply = await post(attestedSetup, 'par', { ...parameters, client_id: clientId }, undefined, headers)
    expect(errorOf(reply)).toEqual([400, 'invalid_client'])
  },

  async VCIIssuerFailOnMismatchedClientAttestationPopKey() {
    await expectRefusedClient({ prover: generateKey('P-256') })
  },
}

describe('module', () => {
  test.each(Object.entries(modules))('%s', (_, run) => run())
})

test('the documentation has the same modules', () => {
  const { row, names } = documented('Issuer')
  expect(names).toEqual(Object.keys(modules))
  expect(names).toHaveLength(21)
  expect(row).toContain('21 of 21 modules pass')
})
