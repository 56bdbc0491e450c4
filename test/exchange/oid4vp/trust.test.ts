/**
 * Issuers with X.509 certificates: their credentials and status lists are verified by the trust anchors of
 * the verifier's tenant.
 */
import { expect, test } from 'vitest'
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import { refusal } from '../../support/tenants.ts'
import { x509 } from '../../../src/foundation/x509/issue.ts'
import { authority, pemOf } from '../../foundation/x509/_chains.ts'
import {
  authorityKey,
  certifiedIssuer,
  identifiedAuthority,
  issueCertified,
  issuerNames,
  issuerUrl,
  trust,
} from './_certified.ts'
import { startStatusList } from './_status-list.ts'
import {
  failureOf,
  issuerDid,
  personQuery,
  present,
  presentationOf,
  presentSdJwt,
  readRequest,
  requestProof,
  startVerifier,
  type Presented,
  type RequestOptions,
  type Verifier,
} from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const verifier = await untilEnd(startVerifier())
const root = await identifiedAuthority('CN=Root')
const middle = await identifiedAuthority('CN=Middle', root)
const issuer = await certifiedIssuer(middle, {}, [middle])
await trust(verifier, root)

async function outcome(presented: Presented, options: RequestOptions = {}, by: Verifier = verifier) {
  const { presentationId, openid4vp } = await requestProof(by, options)
  const request = await readRequest(openid4vp!.authorizationRequest)
  const reply = await present(request, { person: [await presentSdJwt(request, presented)] })
  if (reply.status === 200) return presentationOf(by, presentationId)
  const [failure] = await failureOf(by, presentationId)
  return failure!
}

const accepted = { status: 'PresentationVerified' }
const [person] = personQuery.credentials
const byAuthority = (...values: string[]) => ({
  dcqlQuery: { credentials: [{ ...person, trusted_authorities: [{ type: 'aki', values }] }] },
})

test('a chain that ends at a trust anchor is accepted, with and without iss', async () => {
  for (const payload of [{}, { iss: issuerUrl }]) {
    const record = await outcome({ credential: await issueCertified(issuer, { payload }) })
    expect(record).toMatchObject(accepted)
    expect(record).toHaveProperty('openid4vp.credentials.0.issuer', issuerUrl)
  }
})

test('a chain that ends at another authority is refused, with the way out', async () => {
  const stranger = await certifiedIssuer(await authority('CN=Stranger'))
  const failure = await outcome({ credential: await issueCertified(stranger) })
  expect(failure).toMatchObject({ name: 'trust', result: 'failed' })
  expect(failure).toHaveProperty(
    'reason',
    expect.stringContaining('ends at no trust anchor of this wallet: agent trust add'),
  )
})

test('the trust anchors of one tenant are not those of another', async () => {
  const other = { ...verifier, tenant: await verifier.agent.newTenant() }
  const credential = await issueCertified(issuer)
  expect(await outcome({ credential }, {}, other)).toMatchObject({ name: 'trust' })
  const [anchor] = await trust(other, root)
  expect(await outcome({ credential }, {}, other)).toMatchObject(accepted)
  await other.tenant.call('DELETE /trust-anchors/{id}', { path: { id: anchor!.id } })
  expect(await outcome({ credential }, {}, other)).toMatchObject({ name: 'trust' })
})

test('beside a certificate, an iss that it does not name does not count', async () => {
  const written = { payload: { iss: 'https://bank.example' } }
  const credential = await issueCertified(issuer, written)
  const record = await outcome({ credential })
  expect(record).toMatchObject(accepted)
  expect(record).toHaveProperty('openid4vp.credentials.0.issuer', issuerUrl)
  expect(record).toHaveProperty('openid4vp.credentials.0.certificateSubject', 'CN=Issuer')

  const byIssuer = (...values: string[]) => ({
    dcqlQuery: { credentials: [{ ...person, claims: [{ path: ['name'] }, { path: ['iss'], values }] }] },
  })
  expect(await outcome({ credential }, byIssuer('https://bank.example'))).toMatchObject({ name: 'query' })
  expect(await outcome({ credential }, byIssuer(issuerUrl))).toMatchObject(accepted)

  const bare = await certifiedIssuer(root, { names: [] })
  const ofBare = await outcome({ credential: await issueCertified(bare, written) })
  expect(ofBare).toHaveProperty('openid4vp.credentials.0.issuer', expect.stringMatching(/^x509_hash:/))
})

test('another key than that of the certificate is refused', async () => {
  const forged = { ...issuer, key: generateKey('P-256') }
  expect(await outcome({ credential: await issueCertified(forged) })).toMatchObject({ name: 'signature' })
})

test('a certificate without names is its own issuer by its hash', async () => {
  const bare = await certifiedIssuer(root, { names: [] })
  const record = await outcome({ credential: await issueCertified(bare) })
  expect(record).toHaveProperty(
    'openid4vp.credentials.0.issuer',
    expect.stringMatching(/^x509_hash:[\w-]{43}$/),
  )
})

test('a credential with neither iss nor certificates is refused', async () => {
  const credential = await issueCertified({ ...issuer, x5c: undefined as unknown as string[] })
  expect(await outcome({ credential })).toMatchObject({
    name: 'form',
    reason: expect.stringContaining('iss'),
  })
})

test('a query by authority is answered by credentials below it', async () => {
  const credential = await issueCertified(issuer)
  for (const { keyId } of [middle, root])
    expect(await outcome({ credential }, byAuthority('bm9uZQ', keyId))).toMatchObject(accepted)
  expect(await outcome({ credential }, byAuthority('bm9uZQ'))).toMatchObject({
    name: 'trust',
    reason: expect.stringContaining('trusted_authorities'),
  })
  expect(await outcome({}, byAuthority(root.keyId))).toMatchObject({ name: 'trust' })
})

test('an authority that names the key of another one is refused', async () => {
  const rogue = await identifiedAuthority('CN=Rogue', root)
  const options = { names: issuerNames, extensions: [authorityKey(middle)] }
  const forged = await certifiedIssuer(rogue, options, [rogue])
  const failure = await outcome({ credential: await issueCertified(forged) }, byAuthority(middle.keyId))
  expect(failure).toMatchObject({ name: 'trust', reason: expect.stringContaining('another authority key') })
})

test.each([
  [{ type: 'openid_federation', values: ['https://federation.example'] }, 'openid_federation'],
  [{ type: 'etsi_tl', values: ['https://list.example'] }, 'etsi_tl'],
  [{ type: 'aki', values: ['not base64url!'] }, 'base64url'],
])('a query by the authorities %j is refused', async (authorities, reason) => {
  const dcqlQuery = { credentials: [{ ...person, trusted_authorities: [authorities] }] }
  const { status, detail } = await refusal(requestProof(verifier, { dcqlQuery }))
  expect([status, detail]).toEqual([400, expect.stringContaining(reason)])
})

test('with issuers: trusted, the issuer must be a trust anchor', async () => {
  const own = { ...verifier, tenant: await verifier.agent.newTenant() }
  const add = (type: 'did' | 'aki', value: string) =>
    own.tenant.call('POST /trust-anchors', { body: { type, value } })
  const trusted = { issuers: 'trusted' as const }
  expect(await outcome({}, {}, own)).toMatchObject(accepted)
  expect(await outcome({}, trusted, own)).toMatchObject({
    name: 'trust',
    reason: expect.stringContaining(issuerDid),
  })
  await add('did', issuerDid)
  expect(await outcome({}, trusted, own)).toMatchObject(accepted)

  await trust(own, root)
  const credential = await issueCertified(issuer)
  expect(await outcome({ credential }, trusted, own)).toMatchObject(accepted)
  await add('aki', 'bm9uZQ')
  expect(await outcome({ credential }, trusted, own)).toMatchObject({ name: 'trust' })
  expect(await outcome({ credential }, {}, own)).toMatchObject(accepted)
  await add('aki', middle.keyId)
  expect(await outcome({ credential }, trusted, own)).toMatchObject(accepted)
})

test('a status list is verified by its certificates', async () => {
  const stranger = await certifiedIssuer(await authority('CN=Stranger'))
  let signed = { ...issuer, status: 0 }
  await using list = await startStatusList(() => {
    const { status, ...signer } = signed
    return { ...signer, issuer: issuerUrl, statuses: [[1, status]] }
  })
  const credential = await issueCertified(issuer, { payload: list.payloadOf(1) })
  expect(await outcome({ credential })).toMatchObject(accepted)
  signed = { ...issuer, status: 1 }
  expect(await outcome({ credential })).toMatchObject({
    name: 'status',
    reason: expect.stringContaining('revoked'),
  })
  signed = { ...stranger, status: 0 }
  expect(await outcome({ credential })).toMatchObject({
    name: 'status',
    reason: expect.stringContaining('trust anchor'),
  })
})

test('a status issuer below the same trust anchor signs the status list', async () => {
  const usage = new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.30'], true)
  const names = [{ type: 'url' as const, value: 'https://status.example' }]
  const [otherRoot, stranger] = [await authority('CN=Other root'), await authority('CN=Stranger')]
  await trust(verifier, otherRoot)
  let signer = issuer
  await using list = await startStatusList(() => ({
    ...signer,
    issuer: names[0]!.value,
    statuses: [[2, 1]],
  }))
  const withStatus = (idx: number) => issueCertified(issuer, { payload: list.payloadOf(idx) })
  const credential = await withStatus(1)
  expect(await outcome({ credential })).toMatchObject(accepted)
  signer = await certifiedIssuer(root, { names, extensions: [authorityKey(root), usage] })
  expect(await outcome({ credential })).toMatchObject(accepted)
  expect(await outcome({ credential: await withStatus(2) })).toMatchObject({
    name: 'status',
    reason: expect.stringContaining('revoked'),
  })
  signer = await certifiedIssuer(root, { names })
  expect(await outcome({ credential })).toMatchObject({
    name: 'status',
    reason: expect.stringContaining('not for status lists'),
  })
  signer = await certifiedIssuer(otherRoot, { names, extensions: [usage] })
  expect(await outcome({ credential })).toMatchObject({ name: 'status' })
  signer = await certifiedIssuer(stranger, { names, extensions: [usage] })
  expect(await outcome({ credential })).toMatchObject({
    name: 'status',
    reason: expect.stringContaining('trust anchor'),
  })
  const fromIt = await certifiedIssuer(root, { extensions: [authorityKey(root), usage] })
  expect(await outcome({ credential: await issueCertified(fromIt) })).toMatchObject({ name: 'trust' })
})

test('a chain with its root is accepted', async () => {
  const whole = await certifiedIssuer(middle, {}, [middle, root])
  expect(await outcome({ credential: await issueCertified(whole) })).toMatchObject(accepted)
})

test('anchors are checked, listed once, and kept as they are', async () => {
  const { tenant } = { tenant: await verifier.agent.newTenant() }
  const add = (type: 'x509' | 'did' | 'aki', value: string) =>
    tenant.call('POST /trust-anchors', { body: { type, value, name: 'mine' } })
  const made = await add('x509', pemOf(root))
  expect(made).toMatchObject({
    type: 'x509',
    subject: 'CN=Root',
    keyId: root.keyId,
    value: pemOf(root),
    name: 'mine',
  })
  expect(await tenant.call('GET /trust-anchors/{id}', { path: { id: made.id } })).toEqual(made)
  expect((await tenant.call('GET /trust-anchors', {})).contents).toEqual([made])
  const ended = await authority('CN=Ended', undefined, { from: -9, until: -1 })
  // prettier-ignore
  const refused: [number, string, 'x509' | 'did' | 'aki', string][] = [
    [409, 'is the same',                'x509', pemOf(root)],
    [422, 'contains no certificate',    'x509', 'PEM'],
    [422, 'add each one by itself',     'x509', pemOf(root, middle)],
    [422, 'has ended',                  'x509', pemOf(ended)],
    [400, 'value: is not a DID',        'did',  'https://issuer.example'],
    [400, 'value: is not the key',      'aki',  'a+b='],
  ]
  for (const [status, reason, type, value] of refused) {
    const problem = await refusal(add(type, value))
    expect([problem.status, problem.detail]).toEqual([status, expect.stringContaining(reason)])
  }
  expect((await tenant.call('GET /trust-anchors', {})).contents).toEqual([made])
})
