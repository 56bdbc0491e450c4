/**
 * SD-JWT VCs: bound to a key without a DID, with a type whose metadata the issuer serves, verified by others'
 * software.
 */
import { verifySdJwt } from '../../credentials/codecs/_verify.ts'
import { createHash } from 'node:crypto'
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc'
import { expect, test } from 'vitest'
import { toPaddedBase64url } from '../../../src/foundation/bytes.ts'
import { statusChecks } from '../../../src/wallet/credential-status/check.ts'
import { decodeJws } from '../../../src/credentials/codecs/jws.ts'
import { decodeSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { checkType, readTypeMetadata } from '../../../src/credentials/codecs/sd-jwt/type-check.ts'
import { generateKey, toPublic, verify, type PublicJwk } from '../../../src/foundation/crypto/keys.ts'
import { resolveJwkDid } from '../../../src/did/jwk.ts'
import { ask } from '../../support/ask.ts'
import { publishSchema, refusal } from '../../support/tenants.ts'
import { newNonce, offer, prove, recordOf, redeemed, request, startIssuer } from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const setup = await untilEnd(startIssuer())
const { tenant } = setup
const template = { publicKeys: [], services: [] }
/** A did:jwk on P-256. */
const created = await tenant.call('POST /did-registrar/dids', {
  body: { method: 'jwk', documentTemplate: template },
})
const issuingDID = created.longFormDid
const schemaId = await publishSchema(tenant, setup.issuingDID, {
  name: 'licence',
  properties: { name: { type: 'string' }, number: { type: 'string' }, points: { type: 'integer' } },
  required: ['name', 'number'],
})
await configure({ configurationId: 'Licence', alwaysDisclosed: ['number'] })

type Configuration = {
  configurationId: string
  vct?: string
  alwaysDisclosed?: string[]
  format?: 'jwt_vc_json'
}

function configure(configuration: Configuration) {
  const body = { format: 'dc+sd-jwt' as const, schemaId, ...configuration }
  const path = { issuerId: setup.issuerId }
  return setup.tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', { path, body })
}

const claims = { name: 'Alice', number: 'L-1', points: 3 }

/** Issues a credential for each key. */
async function issue(
  keys: Parameters<typeof prove>[1][],
  options: Partial<Parameters<typeof offer>[1]> = {},
) {
  const credentialConfigurationId = options.credentialConfigurationId ?? 'Licence'
  const made = await redeemed(setup, { issuingDID, claims, ...options, credentialConfigurationId })
  const nonce = await newNonce(setup)
  const jwt = await Promise.all(keys.map((proof) => prove(setup, { ...proof, claims: { nonce } })))
  const body = { credential_configuration_id: credentialConfigurationId, proofs: { jwt } }
  const reply = await request(setup, { token: made.token, body })
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  const credentials = reply.body.credentials.map(
    (each: { credential: string }) => each.credential,
  ) as string[]
  return { ...made, credentials }
}

const verified = (credential: string) => {
  const { env } = setup.agent.agent
  return verifySdJwt(credential, {
    resolve: env.resolver.document,
    now: Math.floor(Date.now() / 1_000),
    ...statusChecks(env),
  })
}

test('a credential is bound to the key of the wallet, has no subject, and is signed on P-256', async () => {
  const key = generateKey('P-256')
  const { credentials, recordId } = await issue([{ key }])
  const credential = await verified(credentials[0]!)
  expect(credential).toMatchObject({ claims, issuerDid: issuingDID, holderKey: toPublic(key) })
  expect(credential).not.toHaveProperty('subjectDid')
  expect(credential.jws.header).toEqual({ alg: 'ES256', typ: 'dc+sd-jwt', kid: `${issuingDID}#0` })
  expect(credential.disclosures.map(({ path }) => path.join('.')).toSorted()).toEqual(['name', 'points'])
  expect(credential.payload).toMatchObject({
    number: 'L-1',
    iat: expect.any(Number),
    exp: expect.any(Number),
  })
  expect(await recordOf(setup, recordId)).toMatchObject({
    credentialFormat: 'SDJWT',
    protocolState: 'CredentialSent',
    credential: toPaddedBase64url(credentials[0]!),
  })
})

test('the type of a credential is the URL of its metadata, whose digest it contains', async () => {
  const [credential] = (await issue([{}])).credentials
  const decoded = decodeSdJwt(credential!)
  expect(decoded.vct).toBe(`${setup.identifier}/credential-types/Licence`)
  const response = await fetch(decoded.vct!)
  expect(response.headers.get('content-type')).toContain('application/json')
  const document = Buffer.from(await response.arrayBuffer())
  const type = readTypeMetadata(document, { vct: decoded.vct!, integrity: decoded.payload['vct#integrity'] })
  checkType(decoded, type, { isComplete: true })
  expect(type.claims).toEqual([
    { path: ['name'], mandatory: true, sd: 'always' },
    { path: ['number'], mandatory: true, sd: 'never' },
    { path: ['points'], mandatory: false, sd: 'always' },
  ])
  const tampered = Buffer.from(document.toString().replace('"never"', '"always"'))
  expect(() =>
    readTypeMetadata(tampered, { vct: decoded.vct!, integrity: decoded.payload['vct#integrity'] }),
  ).toThrow('is not the document that its integrity names')
})

test('the library of others verifies a credential with its type metadata', async () => {
  const { publicKeyJwk } = resolveJwkDid(issuingDID).verificationMethod![0] as { publicKeyJwk: PublicJwk }
  const peer = new SDJwtVcInstance({
    hasher: (data, algorithm) =>
      createHash(algorithm.replace('-', '').toLowerCase())
        .update(typeof data === 'string' ? data : Buffer.from(data))
        .digest(),
    verifier: (data, signature) =>
      verify(publicKeyJwk, Buffer.from(data), Buffer.from(signature, 'base64url')),
    loadTypeMetadataFormat: true,
    // Its own fetcher compares the digest of `vct#integrity` in hexadecimal.
    vctFetcher: async (url) => (await (await fetch(url)).json()) as { vct: string },
    statusVerifier: () => true,
    statusValidator: async (status) => {
      if (status !== 0) throw new Error('revoked')
    },
    // Without an `Accept` of its own, as Token Status List §8.1 allows.
    statusListFetcher: async (url) => (await fetch(url)).text(),
  })
  const { credentials, recordId } = await issue([{}])
  const { payload, typeMetadata } = await peer.verify(credentials[0]!)
  expect(payload).toMatchObject({ ...claims, iss: issuingDID })
  expect(typeMetadata!.mergedTypeMetadata).toMatchObject({ name: 'Licence' })
  const path = { id: recordId }
  await setup.tenant.call('PATCH /credential-status/revoke-credential/{id}', { path })
  await expect(verified(credentials[0]!)).rejects.toThrow('the credential is revoked')
  await expect(peer.verify(credentials[0]!)).rejects.toThrow('revoked')
})

test.each(['*/*', 'application/statuslist+jwt', 'application/json, text/plain, */*'])(
  'the status list is a JWT, whatever is asked for: Accept %s',
  async (accept) => {
    const { credentials } = await issue([{}])
    const { statusListCredential: uri } = decodeSdJwt(credentials[0]!).statuses[0]!
    const path = `GET ${new URL(uri!).pathname}`
    const { status, headers, body } = await ask(setup.agent, path, { headers: { accept } })
    expect([status, headers.get('content-type')]).toEqual([200, 'application/statuslist+jwt'])
    expect(decodeJws(body).payload).toMatchObject({ sub: uri })
  },
)

test('credentials of a batch have no value in common that verifiers can link them by', async () => {
  const keys = [1, 2, 3].map(() => generateKey('P-256'))
  const { credentials } = await issue(keys.map((key) => ({ key })))
  const decoded = credentials.map((credential) => decodeSdJwt(credential))
  const differs = (values: unknown[]) =>
    expect(new Set(values.map((value) => JSON.stringify(value))).size).toBe(values.length)
  differs(decoded.map(({ holderKey }) => holderKey))
  differs(decoded.map(({ statuses }) => statuses))
  differs(decoded.flatMap(({ disclosures }) => disclosures.map(({ encoded }) => encoded)))
  differs(decoded.flatMap(({ payload }) => payload['_sd'] as string[]))
  for (const { payload } of decoded)
    for (const time of ['iat', 'exp']) expect((payload[time] as number) % 3_600, time).toBe(0)
})

test('a credential that is valid for less than a day is valid for as long as the offer says', async () => {
  const { credentials } = await issue([{}], { validityPeriod: 600 })
  const { iat, exp } = decodeSdJwt(credentials[0]!).payload as { iat: number; exp: number }
  expect(exp - iat).toBe(600)
  expect(exp).toBeGreaterThan(Date.now() / 1_000)
})

test('a type that the tenant chose has no metadata here', async () => {
  await configure({ configurationId: 'Pid', vct: 'urn:eudi:pid:1' })
  const { credentials } = await issue([{}], { credentialConfigurationId: 'Pid' })
  const decoded = decodeSdJwt(credentials[0]!)
  expect(decoded.vct).toBe('urn:eudi:pid:1')
  expect(decoded.payload).not.toHaveProperty('vct#integrity')
  for (const id of ['Pid', 'Person', 'Unknown']) {
    const path = `/oid4vci/issuers/${setup.issuerId}/credential-types/${id}`
    expect((await ask(setup.agent, `GET ${path}`)).status, id).toBe(404)
  }
  const target = `GET /oid4vci/issuers/${setup.issuerId}/.well-known/openid-credential-issuer`
  const { Pid, Licence } = (await ask(setup.agent, target)).body.credential_configurations_supported
  expect(Pid).toMatchObject({ format: 'dc+sd-jwt', vct: 'urn:eudi:pid:1' })
  expect(Licence).toMatchObject({
    vct: `${setup.identifier}/credential-types/Licence`,
    credential_metadata: { claims: [{ path: ['name'], mandatory: true }, {}, {}] },
  })
})

test('what a configuration or an offer cannot be is refused with the reason', async () => {
  const configured = (configuration: Configuration) => refusal(configure(configuration))
  expect(await configured({ configurationId: 'A', alwaysDisclosed: ['age'] })).toMatchObject({
    status: 400,
    detail: 'alwaysDisclosed: the schema has no property "age".',
  })
  for (const member of [{ vct: 'urn:a' }, { alwaysDisclosed: ['name'] }])
    expect(await configured({ configurationId: 'A', format: 'jwt_vc_json', ...member })).toMatchObject({
      status: 400,
      detail: expect.stringMatching(/have no such member. Leave it out, or use dc\+sd-jwt.$/),
    })
  const offered = { issuingDID, credentialConfigurationId: 'Licence' }
  expect(await refusal(offer(setup, { ...offered, claims: { ...claims, iss: 'x' } }))).toMatchObject({
    status: 400,
    detail: expect.stringMatching(/^claims.iss: /),
  })
})
