/**
 * Key attestations, in the header of a key proof and as the proof: every rule, and a credential for each
 * attested key.
 */
import { expect, test } from 'vitest'
import { decodeSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { generateKey, toPublic, type PrivateJwk } from '../../../src/foundation/crypto/keys.ts'
import { ask, type Reply } from '../../support/ask.ts'
import { publishSchema, refusal } from '../../support/tenants.ts'
import { attestKeys, newProvider, trust } from './_attestations.ts'
import { faults } from './_schemas.ts'
import {
  addIssuer,
  errorOf,
  fetchDeferred,
  newNonce,
  prove,
  recordOf,
  redeemed,
  request,
  startIssuer,
  type Setup,
} from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const keyAttestation = { keyStorage: ['iso_18045_high', 'iso_18045_moderate'] }
const high = { key_storage: ['iso_18045_high'] }

const configurations = 'POST /oid4vci/issuers/{issuerId}/credential-configurations'

const [setup, provider] = await Promise.all([untilEnd(startIssuer()), newProvider()])
await trust(setup, provider, 'optional')
await addLicence(setup, { keyAttestation })

/** A configuration of SD-JWT VCs, which show the key that they are bound to. */
async function addLicence({ tenant, issuerId, issuingDID }: Setup, settings: object) {
  const schemaId = await publishSchema(tenant, issuingDID, { name: 'licence' })
  const body = { configurationId: 'Licence', format: 'dc+sd-jwt' as const, schemaId, ...settings }
  return tenant.call(configurations, { path: { issuerId }, body })
}

const newKeys = (count: number) => Array.from({ length: count }, () => generateKey('P-256'))

/** Requests the credential `Licence`. */
async function take(proofs: object, options = {}): Promise<Reply & { recordId: string; token: string }> {
  const { token, recordId } = await redeemed(setup, { credentialConfigurationId: 'Licence', ...options })
  const body = { credential_configuration_id: 'Licence', proofs }
  expect(faults('credential_request-1_0', body)).toEqual([])
  return { ...(await request(setup, { token, body })), recordId, token }
}

/** The keys that the credentials of a response are bound to. */
const boundIn = ({ body }: Reply) =>
  body.credentials.map(({ credential }: { credential: string }) => decodeSdJwt(credential).holderKey)

test('the metadata have the proof types, and the requirement', async () => {
  const target = `/.well-known/openid-credential-issuer/oid4vci/issuers/${setup.issuerId}`
  const { body } = await ask(setup.agent, `GET ${target}`)
  expect(faults('credential_issuer_metadata-1_0', body)).toEqual([])
  const { Licence, Person } = body.credential_configurations_supported
  const key_attestations_required = { key_storage: keyAttestation.keyStorage }
  const jwt = { proof_signing_alg_values_supported: ['EdDSA', 'ES256K', 'ES256'] }
  const attestation = { proof_signing_alg_values_supported: ['ES256'] }
  expect(Licence.proof_types_supported).toEqual({
    jwt: { ...jwt, key_attestations_required },
    attestation: { ...attestation, key_attestations_required },
  })
  expect(Person.proof_types_supported).toEqual({ jwt, attestation })
})

test('each key of an attestation gets a credential, without a proof of the key', async () => {
  const keys = newKeys(3)
  const attestation = attestKeys(provider, keys, await newNonce(setup), { claims: high })
  const reply = await take({ attestation: [attestation] })
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  expect(boundIn(reply)).toEqual(keys.map(toPublic))
})

test('one key proof with an attestation gets a credential for each attested key, its own first', async () => {
  const keys = newKeys(3)
  const nonce = await newNonce(setup)
  // A copy of a key, and a key for encryption, get none.
  const attested_keys = [...keys, keys[0]!].map(toPublic)
  const claims = {
    ...high,
    attested_keys: [...attested_keys, { ...toPublic(generateKey('P-256')), use: 'enc' }],
  }
  const key_attestation = attestKeys(provider, keys, nonce, { claims })
  const jwt = await prove(setup, { key: keys[1]!, header: { key_attestation } })
  const reply = await take({ jwt: [jwt] })
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  expect(boundIn(reply)).toEqual([keys[1]!, keys[0]!, keys[2]!].map(toPublic))
})

test('an attestation of keys for encryption only is refused', async () => {
  const attested_keys = [{ ...toPublic(generateKey('P-256')), use: 'enc' }]
  const attestation = attestKeys(provider, [], await newNonce(setup), { claims: { ...high, attested_keys } })
  const { status, body } = await take({ attestation: [attestation] })
  expect([status, body.error]).toEqual([400, 'invalid_proof'])
  expect(body.error_description).toContain('for encryption')
})

test('a batch of key proofs with one attestation gets a credential for each key', async () => {
  const keys = newKeys(2)
  const nonce = await newNonce(setup)
  const key_attestation = attestKeys(provider, keys, nonce, { claims: high })
  const proofs = keys.map((key) => prove(setup, { key, header: { key_attestation }, claims: { nonce } }))
  const reply = await take({ jwt: await Promise.all(proofs) })
  expect(boundIn(reply)).toEqual(keys.map(toPublic))
})

test('the kid of a key proof can name one of the attested keys', async () => {
  const keys = newKeys(2)
  const key_attestation = attestKeys(provider, keys, await newNonce(setup), { claims: high })
  const header = { jwk: undefined, kid: '1', key_attestation }
  const reply = await take({ jwt: [await prove(setup, { key: keys[1]!, header })] })
  expect(boundIn(reply)).toEqual([keys[1]!, keys[0]!].map(toPublic))
})

test('the same attestation after a lost response gets the same credentials, also if they are deferred', async () => {
  const attestation = attestKeys(provider, newKeys(2), await newNonce(setup), { claims: high })
  const first = await take({ attestation: [attestation] }, { automaticIssuance: false })
  expect(first.status).toBe(202)
  const target = 'POST /issue-credentials/records/{recordId}/issue-credential'
  await setup.tenant.call(target, { path: { recordId: first.recordId } })
  const issued = await fetchDeferred(setup, first.token, first.recordId)
  expect(issued.body.credentials).toHaveLength(2)
  const body = { credential_configuration_id: 'Licence', proofs: { attestation: [attestation] } }
  expect((await request(setup, { token: first.token, body })).body).toEqual(issued.body)
})

type Faulty = { signer?: PrivateJwk; header?: object; claims?: object; nonce?: string }

const now = () => Math.floor(Date.now() / 1_000)

/** Faults of an attestation that the issuer refuses in both places. */
const faulty: [string, Faulty | (() => Promise<Faulty>), string, string][] = [
  ['another type', { header: { typ: 'jwt' } }, 'invalid_proof', "'typ' is not key-attestation+jwt"],
  [
    'another signer',
    { signer: generateKey('P-256') },
    'invalid_proof',
    'not signed by the key of the first certificate',
  ],
  ['no certificates', { header: { x5c: undefined } }, 'invalid_proof', 'no key of a trusted wallet provider'],
  [
    'a provider that is not trusted',
    async () => {
      const { key, x5c } = await newProvider()
      return { signer: key, header: { x5c } }
    },
    'invalid_proof',
    'is not signed by the key of the next one',
  ],
  ['exp in the past', { claims: { exp: now() - 600 } }, 'invalid_proof', 'it has expired'],
  ['no iat', { claims: { iat: undefined } }, 'invalid_proof', "the claim 'iat'"],
  ['a private key', { claims: { attested_keys: newKeys(1) } }, 'invalid_proof', 'is private'],
  ['no keys', { claims: { attested_keys: [] } }, 'invalid_proof', "the claim 'attested_keys'"],
  ['no nonce', { claims: { nonce: undefined } }, 'invalid_proof', "the claim 'nonce' is missing"],
  ['a nonce of its own', { nonce: 'a-nonce' }, 'invalid_nonce', 'was not made by this issuer'],
  [
    'no key storage',
    { claims: { key_storage: undefined } },
    'invalid_proof',
    'its key_storage is not one of iso_18045_high',
  ],
  ['weak key storage', { claims: { key_storage: ['iso_18045_basic'] } }, 'invalid_proof', 'its key_storage'],
]

test.each(faulty)(
  'an attestation with %s is refused, and nothing is used up',
  async (_, given, code, reason) => {
    const {
      nonce = await newNonce(setup),
      claims,
      ...parts
    } = typeof given === 'function' ? await given() : given
    const key = generateKey('P-256')
    const attestation = attestKeys(provider, [key], nonce, { ...parts, claims: { ...high, ...claims } })
    const jwt = await prove(setup, { key, header: { key_attestation: attestation } })
    const described = { error: code, error_description: expect.stringContaining(reason) }
    for (const proofs of [{ attestation: [attestation] }, { jwt: [jwt] }]) {
      const { status, body, token } = await take(proofs)
      expect([status, body]).toEqual([400, described])
      const right = attestKeys(provider, [key], await newNonce(setup), { claims: high })
      const again = { credential_configuration_id: 'Licence', proofs: { attestation: [right] } }
      expect((await request(setup, { token, body: again })).status).toBe(200)
    }
  },
)

test('a key proof that the attestation does not fit is refused', async () => {
  const [key, other] = newKeys(2) as [PrivateJwk, PrivateJwk]
  const attest = async (claims = {}) =>
    attestKeys(provider, [key], await newNonce(setup), { claims: { ...high, ...claims } })
  for (const [proof, reason] of [
    [{ key: other, header: { key_attestation: await attest() } }, 'its key is not in the attested_keys'],
    [
      { key: other, header: { jwk: undefined, kid: '0', key_attestation: await attest() } },
      'none of the attested_keys',
    ],
    [{ key, header: { key_attestation: await attest({ exp: undefined }) } }, "the claim 'exp'"],
    [{ key }, 'its header has no key_attestation'],
  ] as const) {
    const { body } = await take({ jwt: [await prove(setup, proof)] })
    expect([body.error, body.error_description]).toEqual(['invalid_proof', expect.stringContaining(reason)])
  }
})

test('the nonce of an attestation is used once', async () => {
  const nonce = await newNonce(setup)
  const attest = () => attestKeys(provider, newKeys(1), nonce, { claims: high })
  expect((await take({ attestation: [attest()] })).status).toBe(200)
  expect(errorOf(await take({ attestation: [attest()] }))).toEqual([400, 'invalid_nonce'])
  const key = generateKey('P-256')
  const key_attestation = attestKeys(provider, [key], nonce, { claims: high })
  const jwt = [await prove(setup, { key, header: { key_attestation } })]
  expect(errorOf(await take({ jwt }))).toEqual([400, 'invalid_nonce'])
})

test('an attestation has at most as many keys as a batch, and is one', async () => {
  const nonce = await newNonce(setup)
  const attest = (count: number) => attestKeys(provider, newKeys(count), nonce, { claims: high })
  const many = await take({ attestation: [attest(11)] })
  expect([...errorOf(many), many.body.error_description]).toEqual([
    400,
    'invalid_proof',
    expect.stringContaining('there are 11 keys; this issuer takes at most 10'),
  ])
  const { token } = await redeemed(setup, { credentialConfigurationId: 'Licence' })
  for (const proofs of [
    { attestation: [attest(1), attest(1)] },
    { attestation: [] },
    { attestation: [attest(1)], jwt: [await prove(setup)] },
  ]) {
    const body = { credential_configuration_id: 'Licence', proofs }
    expect(errorOf(await request(setup, { token, body }))).toEqual([400, 'invalid_proof'])
  }
})

test('the record of the credential has the reason of a refusal', async () => {
  const attestation = attestKeys(provider, newKeys(1), await newNonce(setup), {
    signer: generateKey('P-256'),
  })
  const { recordId } = await take({ attestation: [attestation] })
  expect((await recordOf(setup, recordId)).metaLastFailure).toMatchObject({
    type: 'invalid_proof',
    detail: expect.stringContaining('The key attestation is not accepted'),
  })
})

test('an issuer that trusts no wallet provider takes no attestations, and requires none', async () => {
  const other = await addIssuer(setup.agent, setup.tenant)
  const refused = await refusal(addLicence(other, { keyAttestation: {} }))
  expect(refused).toMatchObject({ status: 400, detail: expect.stringContaining('trusts no wallet provider') })
  const key = generateKey('P-256')
  const attestation = attestKeys(provider, [key], await newNonce(other))
  const { token } = await redeemed(other)
  const body = { credential_configuration_id: 'Person', proofs: { attestation: [attestation] } }
  expect(errorOf(await request(other, { token, body }))).toEqual([400, 'invalid_proof'])
  const jwt = await prove(other, { key, header: { key_attestation: 'unknown' } })
  expect((await request(other, { token, jwt })).status).toBe(200)
})

test('without providers, a credential that requires attestations is not issued', async () => {
  const other = await addIssuer(setup.agent, setup.tenant)
  await trust(other, provider, 'optional')
  await addLicence(other, { keyAttestation: {} })
  const { issuerId, tenant } = other
  const none = { path: { issuerId }, body: { walletProviders: {} } }
  await tenant.call('PATCH /oid4vci/issuers/{issuerId}', none)
  const { token } = await redeemed(other, { credentialConfigurationId: 'Licence' })
  const key = generateKey('P-256')
  const key_attestation = attestKeys(provider, [key], await newNonce(other))
  for (const header of [{}, { key_attestation }]) {
    const jwt = await prove(other, { key, header })
    const body = { credential_configuration_id: 'Licence', proofs: { jwt: [jwt] } }
    expect(errorOf(await request(other, { token, body }))).toEqual([400, 'invalid_proof'])
  }
})
