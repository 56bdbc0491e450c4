/** A driving licence as mdoc: issued and held over OpenID4VCI, presented over OpenID4VP, verified, revoked. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { fromUtf8, fromBase64 } from '../../../src/foundation/bytes.ts'
import { decodeCbor } from '../../../src/foundation/cbor/index.ts'
import { decodeMdoc } from '../../../src/credentials/formats/mdoc/decode.ts'
import { type Curve, generateKey } from '../../../src/foundation/crypto/keys.ts'
import { ask as request } from '../../support/ask.ts'
import { at, order } from '../../support/mdoc.ts'
import { untilEnd } from '../../support/shared.ts'
import { newDid, presentationIn, publishSchema, refusal } from '../../support/tenants.ts'
import { prove, redeemOffer, request as requestCredential } from '../oid4vci/_wallet.ts'
import { act, acceptRequest, inState, receiveDigital } from '../oid4vp/holder/_holder.ts'
import { claims, docType, licence, namespace, offer, startLicences, take, trust } from './_licence.ts'

const setup = await untilEnd(startLicences())
const { issuer, holder, verifier } = setup

const credentialQuery = (names: readonly string[], more: object = {}) => ({
  id: 'licence',
  format: 'mso_mdoc',
  meta: { doctype_value: docType },
  ...(names.length > 0 && { claims: names.map((name) => ({ path: [namespace, name] })) }),
  ...more,
})

function ask(names: readonly string[], given: object = {}) {
  return verifier.call('POST /present-proof/presentations/openid4vp', {
    body: { issuers: 'trusted', dcqlQuery: { credentials: [credentialQuery(names)] }, ...given },
  })
}

/** The text that a record keeps. */
const textOf = (credential: string | undefined) => fromUtf8(fromBase64(credential!))

const offered = await offer(setup)
const held = await take(holder, offered.credentialOffer)

test('the credential shows its claims in JSON, and CBOR has the types of the schema', async () => {
  const path = { recordId: held.recordId }
  const content = await holder.call('GET /issue-credentials/records/{recordId}/credential', { path })
  expect(content).toMatchObject({
    credentialFormat: 'MDOC',
    issuer: 'https://dmv.example',
    schemas: [docType],
    claims,
    disclosable: Object.keys(licence).map((name) => [namespace, name]),
    bound: true,
    standing: { status: 'not-revoked' },
    payload: { docType, version: '1.0' },
  })
  const items = at(decodeCbor(fromBase64(textOf(held.credential))), 'nameSpaces', namespace) as any[]
  const values = new Map(
    items.map(({ content: bytes }) => {
      const item = decodeCbor(bytes)
      return [at(item, 'elementIdentifier'), at(item, 'elementValue')]
    }),
  )
  expect(values.get('birth_date')).toMatchObject({ tag: 1004, value: '2001-02-03' })
  expect(values.get('issue_date')).toMatchObject({ tag: 0, value: '2026-01-01T09:30:00Z' })
  expect(values.get('portrait')).toEqual(new Uint8Array(fromBase64(licence.portrait)))
  expect(values.get('height')).toBe(180)
  expect(at(values.get('driving_privileges'), 0, 'issue_date')).toMatchObject({ tag: 1004 })
})

test.each([
  ['by itself', {}],
  ['by itself, encrypted', { responseMode: 'direct_post.jwt' }],
])('presented with two elements, and verified: the wallet responds %s', async (_, given) => {
  const asked = await ask(['family_name', 'age_over_21'], given)
  await acceptRequest({ holder }, asked.openid4vp!.authorizationRequest)
  const { openid4vp } = await presentationIn(verifier.call, asked.thid, 'PresentationVerified')
  expect(openid4vp).toMatchObject({
    credentials: [
      {
        format: 'mso_mdoc',
        issuer: 'https://dmv.example',
        types: [docType],
        claims: { [namespace]: { family_name: 'Doe', age_over_21: true } },
      },
    ],
  })
  const checks = openid4vp!.checks!.filter(({ credentialId }) => credentialId !== undefined)
  expect(checks.map(({ name, result }) => [name, result])).toEqual(order.map((name) => [name, 'passed']))
  expect(openid4vp!.credentials![0]!.warnings).toBeUndefined()
})

test.each(['dc_api', 'dc_api.jwt'])(
  'presented over the Digital Credentials API: %s',
  async (responseMode) => {
    const origin = 'https://shop.example'
    const { longFormDid: did } = await newDid(verifier, 'authentication')
    const asked = await ask(['family_name'], { did, responseMode, origins: [origin] })
    const { presentationId } = await receiveDigital(holder, asked.openid4vp!.digitalRequest!, origin)
    const { openid4vpRequest } = await act(holder, presentationId, { action: 'request-accept' })
    await inState(holder.call, presentationId, 'PresentationSent')
    const path = { presentationId: asked.presentationId }
    const route = 'POST /present-proof/presentations/{presentationId}/digital-credential'
    const body = openid4vpRequest!.digitalCredential as never
    expect(await verifier.call(route, { path, body })).toMatchObject({ status: 'PresentationVerified' })
  },
)

test('without claims in the query no element is disclosed', async () => {
  const asked = await ask([])
  await acceptRequest({ holder }, asked.openid4vp!.authorizationRequest)
  const { openid4vp } = await presentationIn(verifier.call, asked.thid, 'PresentationVerified')
  expect(openid4vp!.credentials![0]!.claims).toEqual({})
})

test('copies have keys, salts and status entries of their own, and the same times', async () => {
  const { credentialOffer } = await offer(setup)
  const { recordId } = await take(holder, credentialOffer, { copies: 3 })
  const presented: string[] = []
  for (let round = 0; round < 3; round++) {
    const asked = await ask(['family_name'])
    const { presentationId } = await holder.call('POST /present-proof/presentations/openid4vp/requests', {
      body: { authorizationRequest: asked.openid4vp!.authorizationRequest },
    })
    await act(holder, presentationId, { action: 'request-accept', proofId: [recordId] })
    const { openid4vp } = await presentationIn(verifier.call, asked.thid, 'PresentationVerified')
    presented.push(openid4vp!.credentials![0]!.holder!)
  }
  expect(new Set(presented).size).toBe(3)
})

test('a revoked licence is refused, and its list is served as CWT and as JWT', async () => {
  const { credentialOffer, recordId: issued } = (await offer(setup)) as never as {
    credentialOffer: string
    recordId: string
  }
  const own = await take(holder, credentialOffer)
  const decoded = decodeMdoc(textOf(own.credential))
  const url = decoded.statuses[0]!.statusListCredential!
  for (const type of ['application/statuslist+cwt', 'application/statuslist+jwt']) {
    const { status, headers } = await fetch(url, { headers: { accept: type } })
    expect([status, headers.get('content-type')]).toEqual([200, type])
  }
  await issuer.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: issued } })
  const asked = await ask(['family_name'])
  const { presentationId } = await holder.call('POST /present-proof/presentations/openid4vp/requests', {
    body: { authorizationRequest: asked.openid4vp!.authorizationRequest },
  })
  await act(holder, presentationId, { action: 'request-accept', proofId: [own.recordId] })
  const { openid4vp } = await presentationIn(verifier.call, asked.thid, 'PresentationVerificationFailed')
  expect(openid4vp!.checks!.filter(({ result }) => result === 'failed')).toMatchObject([{ name: 'status' }])
})

test('a verifier that does not trust the authority refuses', async () => {
  const stranger = await setup.agent.newTenant('stranger')
  const asked = await stranger.call('POST /present-proof/presentations/openid4vp', {
    body: { issuers: 'any', dcqlQuery: { credentials: [credentialQuery(['family_name'])] } },
  })
  await acceptRequest({ holder }, asked.openid4vp!.authorizationRequest, 'ProblemReportReceived')
  const { openid4vp } = await presentationIn(stranger.call, asked.thid, 'PresentationVerificationFailed')
  expect(openid4vp!.checks!.filter(({ result }) => result === 'failed')).toMatchObject([{ name: 'trust' }])
  await trust(stranger, setup.authority)
})

test.each<[string, object, string]>([
  ['without type', { meta: {} }, 'meta.doctype_value: is missing'],
  [
    'a path of one',
    { claims: [{ path: ['family_name'] }] },
    'claims.0.path: is not a namespace and an element',
  ],
  ['an index', { claims: [{ path: [namespace, 1] }] }, 'claims.0.path: is not a namespace and an element'],
  [
    'unbound',
    { require_cryptographic_holder_binding: false },
    'require_cryptographic_holder_binding: is false',
  ],
])('a query is refused: %s', async (_, change, reason) => {
  const credentials = [credentialQuery(['family_name'], change)]
  expect(await refusal(ask([], { dcqlQuery: { credentials } }))).toMatchObject({
    status: 400,
    detail: expect.stringContaining(reason),
  })
})

test.each<[string, object, string]>([
  ['a date that is none', { birth_date: '2001-02-30' }, 'birth_date'],
  ['a portrait that is not base64url', { portrait: '§' }, `claims.${namespace}.portrait: is not base64url`],
  ['a number as text', { height: '180' }, 'height'],
  ['an expiry that is past', { expiry_date: '2020-01-31' }, `claims.${namespace}.expiry_date is past`],
])('an offer is refused: %s', async (_, change, place) => {
  const given = { claims: { [namespace]: { ...licence, ...change } } }
  expect(await refusal(offer(setup, given))).toMatchObject({
    status: 422,
    detail: expect.stringContaining(place),
  })
})

test.each<[string, object, string]>([
  ['without certificate', { issuerCertificateId: undefined }, 'issuerCertificateId: is missing'],
  [
    'signed by a DID',
    { issuerCertificateId: undefined, issuingDID: 'did:web:a.example' },
    'issuingDID: a credential',
  ],
  ['without document type', { doctype: undefined }, 'doctype: is missing'],
  ['with a vct', { vct: 'urn:a' }, 'vct: credentials of the format mso_mdoc have no such member'],
  ['of a JWT', { format: 'jwt_vc_json' }, 'no such member'],
])('a configuration is refused: %s', async (_, change, reason) => {
  const { issuerId, schemaId, certificateId: issuerCertificateId } = setup
  const body = {
    configurationId: 'other',
    format: 'mso_mdoc',
    doctype: docType,
    schemaId,
    issuerCertificateId,
    ...change,
  } as never
  const path = { issuerId }
  const route = 'POST /oid4vci/issuers/{issuerId}/credential-configurations'
  expect(await refusal(issuer.call(route, { path, body }))).toMatchObject({
    status: 400,
    detail: expect.stringContaining(reason),
  })
})

test('no document is bound to a key on secp256k1, and its algorithm is not announced', async () => {
  const { agent, issuerId } = setup
  const wallet = { agent, issuerId, identifier: `${agent.url}/oid4vci/issuers/${issuerId}` }
  const { body: metadata } = await request(
    agent,
    `GET /.well-known/openid-credential-issuer/oid4vci/issuers/${issuerId}`,
  )
  const { proof_types_supported: proofs } = metadata.credential_configurations_supported.mDL
  expect(proofs.jwt.proof_signing_alg_values_supported).toEqual(['EdDSA', 'ES256'])
  const { credentialOffer } = await offer(setup)
  const { access_token: token } = (await redeemOffer(wallet, credentialOffer)).body
  const askWith = async (curve: Curve) => {
    const jwt = await prove(wallet, { key: generateKey(curve) })
    const body = { credential_configuration_id: 'mDL', proofs: { jwt: [jwt] } }
    return requestCredential(wallet, { token, body })
  }
  expect((await askWith('secp256k1')).body).toMatchObject({
    error: 'invalid_proof',
    error_description: expect.stringContaining('its key is of ES256K'),
  })
  expect((await askWith('P-256')).body).toHaveProperty('credentials')
})

test('the doctor names the elements of the standard that a schema does not require', async () => {
  const { checks } = await setup.agent.admin('GET /_system/doctor')
  expect(checks.find(({ name }) => name === 'document-elements')).toMatchObject({
    status: 'warning',
    detail: expect.stringMatching(/does not require given_name, .*, un_distinguishing_sign, and/),
    hint: expect.stringContaining('agent template show mdl'),
  })
})

test('over DIDComm no mdoc is offered or asked for', async () => {
  const asked = { connectionId: randomUUID(), proofs: [] }
  const query = { credentials: [credentialQuery(['family_name'])] }
  for (const given of [{ dcqlQuery: query }, { credentialFormat: 'MDOC' as const }])
    expect(
      await refusal(verifier.call('POST /present-proof/presentations', { body: { ...asked, ...given } })),
    ).toMatchObject({ status: 400, detail: expect.stringContaining('over OpenID4VP') })
  const body = {
    connectionId: randomUUID(),
    credentialFormat: 'MDOC',
    claims,
    issuingDID: 'did:web:a.example',
  }
  expect(
    await refusal(issuer.call('POST /issue-credentials/credential-offers', { body: body as never })),
  ).toMatchObject({ status: 400, detail: expect.stringContaining('over OpenID4VCI') })
})

test('claims without namespaces get those of the configuration', async () => {
  const { issuerId, certificateId: issuerCertificateId } = setup
  const { did } = await newDid(issuer, 'assertionMethod')
  const flat = await publishSchema(issuer, did, { name: 'flat' })
  await issuer.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId },
    body: {
      configurationId: 'Flat',
      format: 'mso_mdoc',
      doctype: 'org.example.flat',
      namespaces: 'org.example',
      schemaId: flat,
      issuerCertificateId,
    },
  })
  const { credentialOffer } = await offer(setup, {
    credentialConfigurationId: 'Flat',
    claims: { name: 'Alice' },
  })
  const own = await take(holder, credentialOffer)
  expect(own.claims).toEqual({ 'org.example': { name: 'Alice' } })
})

test('the metadata name document type, elements, keys and algorithms as OpenID4VCI §A.2 does', async () => {
  const url = `/.well-known/openid-credential-issuer/oid4vci/issuers/${setup.issuerId}`
  const { body } = await request(setup.agent, `GET ${url}`)
  expect(body.credential_configurations_supported.mDL).toMatchObject({
    format: 'mso_mdoc',
    doctype: docType,
    cryptographic_binding_methods_supported: ['cose_key', 'jwk'],
    credential_signing_alg_values_supported: [-7, -9],
    credential_metadata: {
      claims: expect.arrayContaining([
        { path: [namespace, 'family_name'], mandatory: true, display: [{ name: 'Family name' }] },
      ]),
    },
  })
})
