/**
 * The modules of the OpenID Foundation's conformance suite for credential issuers, by their names there
 * (package `vci10issuer`, commit of 2026-08). The suite needs Java and containers, so each module that the
 * issuer can pass is a test here, by the variants of the plan `oid4vci-1_0-issuer-test-plan`: a wallet that
 * uses DPoP, and pushes its request with PKCE, as the suite's does. The documentation has the same table.
 */
import { importJWK, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { toBase64url } from '../../../src/foundation/bytes.ts'
import { decodeSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import { ask, type Reply } from '../../support/ask.ts'
import { untilEnd } from '../../support/shared.ts'
import { documented, documentedVariants } from '../_conformance.ts'
import { attested, attestKeys, clientId, newProvider, trust, type ClientParts } from './_attestations.ts'
import { newResponseKey } from './_encryption.ts'
import { newDpopNonce, post, proofFor } from './_dpop.ts'
import { faults } from './_schemas.ts'
import { nameOf, prepare, suiteWallet, type SuiteWallet, type Variant } from './_suite-wallet.ts'
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

// More requests than a minute allows.
const setup = await untilEnd(startIssuer({ OID4VCI_REQUESTS_PER_MINUTE: '100000' }))
await untilEnd(prepare(setup))

/** An issuer that requires wallet attestations, and a provider that it trusts. */
const attestedSetup = await addIssuer(setup.agent, setup.tenant)
await untilEnd(prepare(attestedSetup))
const provider = await newProvider()
await trust(attestedSetup, provider)

/** The first request of an attested client: pushed, or for a token. */
async function sendAttested(
  { variant, idOf, parametersFor, preAuthorizedForm }: SuiteWallet,
  change: (headers: Record<string, string>) => Record<string, string>,
  parts: ClientParts = {},
): Promise<Reply> {
  const isPushed = variant.grant === 'authorization_code'
  const endpoint = isPushed ? 'par' : 'token'
  const form = isPushed
    ? (await parametersFor(attestedSetup, idOf('Licence'), clientId)).parameters
    : await preAuthorizedForm(attestedSetup, idOf('Licence'))
  const nonce = await newDpopNonce(attestedSetup, attested(attestedSetup, provider))
  const headers = change(attested(attestedSetup, provider, parts))
  return post(attestedSetup, endpoint, form, proofFor(attestedSetup, endpoint, { nonce }), headers)
}

/** The suite takes `invalid_client`, 400 or 401. The same request with valid tokens is taken. */
async function expectRefusedClient(
  wallet: SuiteWallet,
  parts: ClientParts,
  change = (headers: Record<string, string>) => headers,
) {
  expect(errorOf(await sendAttested(wallet, change, parts))).toEqual([400, 'invalid_client'])
  expect([200, 201]).toContain((await sendAttested(wallet, (headers) => headers)).status)
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

/** A token whose signature is changed, as the suite changes it. */
function invalidated(jwt: string): string {
  const [header, payload, signature] = jwt.split('.') as [string, string, string]
  const bytes = Buffer.from(signature, 'base64url').map((byte) => byte ^ 0x5a)
  return `${header}.${payload}.${toBase64url(bytes)}`
}

/** Modules without variants. */
const metadata: Record<string, () => Promise<void>> = {
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
}

/** Modules in which a credential is issued. */
const positive: Record<string, (wallet: SuiteWallet) => Promise<void>> = {
  async VCIIssuerHappyFlow({ happyFlow, notify, take, authorize, variant }) {
    for (const credential of ['Licence', 'Person']) {
      const { granted, reply } = await happyFlow(credential)
      expect((await notify(granted, reply.body.notification_id)).status).toBe(204)
    }
    if (variant.encryption === 'plain') return
    const compressed = await take(await authorize(), [await prove(setup)], {}, { zip: 'DEF' })
    expect(compressed.status).toBe(200)
  },

  async VCIIssuerHappyFlowAdditionalRequests({ happyFlow, take }) {
    const { granted, holder, reply } = await happyFlow()
    for (const headers of [
      { 'x-fapi-customer-ip-address': '2001:db8::1893:25c8:1946' },
      { accept: 'application/json;charset=utf-8' },
      { accept: 'application/json, */*;q=0.1' },
      { 'x-fapi-auth-date': 'Sun, 13 Dec 2026 09:53:21 GMT' },
    ]) {
      const again = await take(granted, [await prove(setup, { key: holder })], {}, { headers })
      expect([again.status, again.body]).toEqual([200, reply.body])
    }
  },

  async VCIIssuerHappyFlowMultipleClients({ happyFlow, take }) {
    const [first, second] = [await happyFlow('Licence', 'one'), await happyFlow('Licence', 'two')]
    const stolen = { ...first.granted, accessToken: second.granted.accessToken }
    expect(errorOf(await take(stolen, [await prove(setup)]))).toEqual([401, 'invalid_dpop_proof'])
  },

  async VCIIssuerHappyFlowWithSkipNotification({ happyFlow }) {
    await happyFlow()
    await happyFlow()
  },

  async VCIIssuerBatchIssuance({ authorize, take }) {
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
    const statuses = all.map(({ payload }: any) => payload.status.status_list)
    expect(new Set(statuses.map(({ idx }: any) => idx)).size).toBe(3)
    expect(new Set(statuses.map(({ uri }: any) => uri)).size).toBe(1)
  },
}

/** Modules that make a mistake at the credential endpoint. */
const negative: Record<string, (wallet: SuiteWallet) => Promise<void>> = {
  async VCIIssuerFailOnInvalidNonce({ take, authorize }) {
    const jwt = await prove(setup, { claims: { nonce: 'a-random-nonce' } })
    expect(errorOf(await take(await authorize(), [jwt]))).toEqual([400, 'invalid_nonce'])
  },

  async VCIIssuerFailOnInvalidJwtProofSignature({ take, authorize }) {
    const jwt = await prove(setup, { key: generateKey('P-256'), signer: generateKey('P-256') })
    expect(errorOf(await take(await authorize(), [jwt]))).toEqual([400, 'invalid_proof'])
  },

  async VCIIssuerFailOnMissingProof({ take, authorize }) {
    expect(errorOf(await take(await authorize(), [], { proofs: undefined }))).toEqual([400, 'invalid_proof'])
  },

  async VCIIssuerFailOnUnknownCredentialConfigurationId({ take, authorize }) {
    const changes = { credential_configuration_id: 'Nothing' }
    const reply = await take(await authorize(), [await prove(setup)], changes)
    expect(errorOf(reply)).toEqual([400, 'unknown_credential_configuration'])
  },

  async VCIIssuerFailOnUnknownCredentialIdentifier({ take, authorize }) {
    const changes = { credential_configuration_id: undefined, credential_identifier: 'unknown' }
    const reply = await take(await authorize(), [await prove(setup)], changes)
    expect(errorOf(reply)).toEqual([400, 'unknown_credential_identifier'])
  },

  async VCIIssuerFailOnRequestWithAccessTokenInQuery({ authorize }) {
    const { accessToken, configuration, ...parts } = await authorize()
    const dpop = proofFor(setup, 'credentials', { accessToken, ...parts })
    const path = `/oid4vci/issuers/${setup.issuerId}/credentials?access_token=${accessToken}`
    const body = { credential_configuration_id: configuration, proofs: { jwt: [await prove(setup)] } }
    expect(errorOf(await ask(setup.agent, `POST ${path}`, { body, headers: { dpop } }))).toEqual([
      401,
      'invalid_token',
    ])
  },
}

/** The suite skips it without encryption. */
const ofEncryption: typeof negative = {
  async VCIIssuerFailOnUnsupportedEncryptionAlgorithm({ take, authorize }) {
    const { parameters } = newResponseKey({ alg: 'UNSUPPORTED_ALG' })
    const changes = { credential_response_encryption: parameters }
    const refused = await take(await authorize(), [await prove(setup)], changes)
    expect(errorOf(refused)).toEqual([400, 'invalid_encryption_parameters'])
  },
}

/** Modules about attestations, which encryption makes no difference to. */
const attestation: typeof negative = {
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

  async VCIIssuerFailOnClientAttestationExpInPast(wallet) {
    const exp = Math.floor(Date.now() / 1_000) - 600
    await expectRefusedClient(wallet, { attestation: { claims: { exp } } })
  },

  async VCIIssuerFailOnClientAttestationNoSub(wallet) {
    await expectRefusedClient(wallet, { attestation: { claims: { sub: undefined } } })
  },

  async VCIIssuerFailOnClientAttestationPopWrongAud(wallet) {
    await expectRefusedClient(wallet, { proof: { claims: { aud: 'https://other.example' } } })
  },

  async VCIIssuerFailOnInvalidClientAttestationSignature(wallet) {
    await expectRefusedClient(wallet, { signer: generateKey('P-256') })
  },

  async VCIIssuerFailOnInvalidClientAttestationPopSignature(wallet) {
    const name = 'oauth-client-attestation-pop'
    await expectRefusedClient(wallet, {}, ({ [name]: proof, ...rest }) => ({
      ...rest,
      [name]: invalidated(proof!),
    }))
  },

  async VCIIssuerFailOnMismatchedClientAttestationPopKey(wallet) {
    await expectRefusedClient(wallet, { prover: generateKey('P-256') })
  },
}

/** A wallet cannot begin with a pre-authorized code: the suite has no such variant. */
const ways = [
  { flow: 'issuer_initiated', grant: 'authorization_code' },
  { flow: 'issuer_initiated', grant: 'pre_authorization_code' },
  { flow: 'wallet_initiated', grant: 'authorization_code' },
] as const
const variants: Variant[] = ways.flatMap((way) =>
  (['plain', 'encrypted'] as const).flatMap((encryption) =>
    (['immediate', 'deferred'] as const).map((mode) => ({ ...way, encryption, mode })),
  ),
)

/** The modules whose result depends on a variant. */
const modulesOf = ({ encryption, mode }: Variant) => ({
  ...positive,
  ...(mode === 'immediate' && negative),
  ...(mode === 'immediate' && encryption === 'encrypted' && ofEncryption),
  ...(mode === 'immediate' && encryption === 'plain' && attestation),
})

test.each(Object.entries(metadata))('%s', (_, run) => run())

describe.each(variants.map((variant) => [nameOf(variant), variant] as const))('%s', (_, variant) => {
  const wallet = suiteWallet(setup, variant)
  test.each(Object.entries(modulesOf(variant)))('%s', (_name, run) => run(wallet))
})

test('the documentation has the same modules and variants', () => {
  const all = { ...metadata, ...positive, ...negative, ...ofEncryption, ...attestation }
  const { row, names } = documented('Issuer')
  expect(names).toEqual(Object.keys(all))
  expect(names).toHaveLength(21)
  expect(row).toContain('21 of 21 modules pass')
  const rows = variants.map((variant) => {
    const count = Object.keys(modulesOf(variant)).length
    return [...Object.values(variant).map((each) => `\`${each}\``), `${count} of ${count}`]
  })
  expect(documentedVariants()).toEqual(rows)
})
