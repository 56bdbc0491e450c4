/** Requests over DIDComm whose content is a query in DCQL. */
import { expect, test } from 'vitest'
import { jsonAttachment } from '../../src/exchange/didcomm/message.ts'
import { oobOf, presentationIn, refusal, type Tenant } from '../support/tenants.ts'
import { issueSdJwtTo } from './_sd-jwt.ts'
import { actOnProof, startConnected, startWithParty } from './_steps.ts'

const claims = {
  name: 'Alice',
  age: 42,
  address: { city: 'Bern', street: 'Gasse 1' },
  degrees: ['BSc', 'MSc'],
}
const anyCredential = 'https://www.w3.org/2018/credentials#VerifiableCredential'

const person = {
  id: 'person',
  format: 'dc+sd-jwt',
  meta: { vct_values: [anyCredential] },
  claims: [{ path: ['name'] }, { path: ['address', 'city'] }, { path: ['degrees', 1] }],
}
const diploma = {
  id: 'diploma',
  format: 'jwt_vc_json',
  meta: { type_values: [['VerifiableCredential']] },
  claims: [{ path: ['credentialSubject', 'degree'], values: ['MSc'] }],
}

/** A holder with an SD-JWT that is bound to its key, and a JWT. */
async function startHolding() {
  const pair = await startConnected({}, 'Ed25519')
  const sdJwt = await issueSdJwtTo({ ...pair, subjectId: pair.subject.did }, { keyId: 'key-1', claims })
  const jwt = await pair.toHolder({ degree: 'MSc' })
  return { ...pair, sdJwt, jwt }
}

async function ask(
  {
    issuer,
    holder,
    connectionId,
  }: Pick<Awaited<ReturnType<typeof startHolding>>, 'issuer' | 'holder' | 'connectionId'>,
  dcqlQuery: any,
  more: object = {},
) {
  const request = await issuer.call('POST /present-proof/presentations', {
    body: { connectionId, dcqlQuery, ...more },
  })
  const received = await presentationIn(holder.call, request.thid, 'RequestReceived')
  return { request, received, candidates: await candidatesOf(holder, received.presentationId) }
}

const candidatesOf = ({ call }: Tenant, presentationId: string) =>
  call('GET /present-proof/presentations/{presentationId}/candidates', { path: { presentationId } })

test('two credentials of two formats answer a query, with the requested disclosures only', async () => {
  await using pair = await startHolding()
  const query = { credentials: [person, diploma] }
  const { request, received, candidates } = await ask(pair, query)
  expect(received).toMatchObject({ dcql: { query }, proofs: [] })
  const proofId = [pair.sdJwt.recordId, pair.jwt.recordId]
  expect(candidates.choice).toEqual(proofId)
  expect(candidates.answer).toEqual([
    { credentialId: 'person', recordId: pair.sdJwt.recordId },
    { credentialId: 'diploma', recordId: pair.jwt.recordId },
  ])

  await actOnProof(pair.holder, received.presentationId, {
    action: 'request-accept',
    proofId: candidates.choice!,
  })
  const { dcql, data } = await presentationIn(pair.issuer.call, request.thid, 'PresentationVerified')
  expect(dcql!.credentials).toMatchObject([
    {
      credentialId: 'person',
      format: 'dc+sd-jwt',
      issuer: pair.issuingDID,
      claims: { name: 'Alice', address: { city: 'Bern' }, degrees: ['MSc'] },
    },
    { credentialId: 'diploma', format: 'jwt_vc_json', claims: { degree: 'MSc' } },
  ])
  expect(dcql!.credentials![0]!.claims).not.toHaveProperty('age')
  expect(dcql!.checks!.map(({ credentialId, name, result }) => [credentialId, name, result])).toEqual([
    ...[
      'form',
      'audience',
      'nonce',
      'time',
      'query',
      'disclosure',
      'policy',
      'trust',
      'validity',
      'holder-binding',
      'signature',
      'status',
    ].map((name) => ['person', name, 'passed']),
    ...[
      'form',
      'audience',
      'nonce',
      'time',
      'query',
      'policy',
      'trust',
      'validity',
      'holder-binding',
      'signature',
      'status',
    ].map((name) => ['diploma', name, 'passed']),
    [undefined, 'answer', 'passed'],
  ])
  expect(Object.keys(JSON.parse(data[0]!).vp_token)).toEqual(['person', 'diploma'])
})

test('a request in an invitation, and a query without claims, which discloses none', async () => {
  await using pair = await startHolding()
  const { claims: _claims, ...bare } = person
  const invited = await pair.issuer.call('POST /present-proof/presentations/invitation', {
    body: { dcqlQuery: { credentials: [bare] } },
  })
  const accepted = await pair.holder.call('POST /present-proof/presentations/accept-invitation', {
    body: { invitation: oobOf(invited) },
  })
  expect(accepted.dcql!.query.credentials).toEqual([bare])
  await actOnProof(pair.holder, accepted.presentationId, {
    action: 'request-accept',
    proofId: [pair.sdJwt.recordId],
  })
  const { dcql } = await presentationIn(pair.issuer.call, invited.thid, 'PresentationVerified')
  expect(dcql!.credentials).toMatchObject([{ credentialId: 'person', claims: {} }])
})

test('candidates have the reason why they do not answer the query', async () => {
  await using pair = await startHolding()
  const other = { ...diploma, claims: [{ path: ['credentialSubject', 'degree'], values: ['PhD'] }] }
  const { received, candidates } = await ask(pair, { credentials: [other] })
  expect(candidates).toMatchObject({ candidates: [], lines: [{ candidates: [] }] })
  expect(candidates.choice).toBeUndefined()
  expect(Object.fromEntries(candidates.others.map(({ recordId, reason }) => [recordId, reason]))).toEqual({
    [pair.sdJwt.recordId]: 'diploma: format: it is dc+sd-jwt',
    [pair.jwt.recordId]: 'diploma: claims: credentialSubject.degree has another value',
  })
  const accept = (choice: object) =>
    refusal(actOnProof(pair.holder, received.presentationId, { action: 'request-accept', ...choice }))
  expect((await accept({ proofId: [pair.jwt.recordId] })).detail).toMatch(
    /^proofId: the credential \S+ does not answer the request/,
  )
})

test('the choice must answer the whole query, and nothing else', async () => {
  await using pair = await startHolding()
  const { received } = await ask(pair, { credentials: [person, diploma] })
  const accept = (choice: object) =>
    refusal(actOnProof(pair.holder, received.presentationId, { action: 'request-accept', ...choice }))
  expect((await accept({ proofId: [pair.jwt.recordId] })).detail).toMatch(/together do not answer/)
  expect((await accept({ proofId: [pair.jwt.recordId], claims: { name: '' } })).detail).toMatch(
    /^claims: the query decides/,
  )
  expect((await accept({ proofId: [pair.jwt.recordId], credentialFormat: 'AnonCreds' })).status).toBe(400)
})

test('alternatives of credential sets, and all credentials with multiple', async () => {
  await using pair = await startHolding()
  const second = await pair.toHolder({ degree: 'MSc', subject: 'Physics' })
  const missing = { ...person, id: 'missing', meta: { vct_values: ['urn:none'] } }
  const query = {
    credentials: [missing, { ...diploma, multiple: true }],
    credential_sets: [{ options: [['missing'], ['diploma']] }],
  }
  const { request, received, candidates } = await ask(pair, query)
  expect(candidates.choice).toBeUndefined()
  await actOnProof(pair.holder, received.presentationId, {
    action: 'request-accept',
    proofId: [pair.jwt.recordId, second.recordId],
  })
  const { dcql } = await presentationIn(pair.issuer.call, request.thid, 'PresentationVerified')
  expect(dcql!.credentials!.map(({ credentialId }) => credentialId)).toEqual(['diploma', 'diploma'])
})

test('a policy applies, and its failure is a named check', async () => {
  await using pair = await startHolding()
  const { id: policyId } = await pair.issuer.call('POST /verification/policies', {
    body: {
      name: 'others',
      description: '',
      constraints: [{ schemaId: anyCredential, trustedIssuers: ['did:web:other.example'] }],
    },
  })
  const { request, received } = await ask(pair, { credentials: [person] }, { policyId })
  await actOnProof(pair.holder, received.presentationId, {
    action: 'request-accept',
    proofId: [pair.sdJwt.recordId],
  })
  const refused = await presentationIn(pair.issuer.call, request.thid, 'PresentationVerificationFailed')
  expect(refused.metaLastFailure!.detail).toMatch(/^person: policy: /)
  expect(refused.dcql!.checks!.find(({ result }) => result === 'failed')).toMatchObject({
    credentialId: 'person',
    name: 'policy',
  })
  expect(refused.dcql!.credentials).toBeUndefined()
})

test.each([
  ['a token instead', 'eyJ', 'The presentation is not a vp_token'],
  ['no presentation', JSON.stringify({ vp_token: {} }), 'answer: person is missing'],
  [
    'an unknown id',
    JSON.stringify({ vp_token: { other: ['x'] } }),
    'answer: other is not an id of a requested credential',
  ],
  ['a presentation that cannot be read', JSON.stringify({ vp_token: { person: ['x'] } }), 'person: form: '],
])('a wallet that sends %s is refused with the reason', async (_, content, reason) => {
  await using scene = await startWithParty()
  const { call, party, connectionId, say } = scene
  const { thid } = await call('POST /present-proof/presentations', {
    body: { connectionId, dcqlQuery: { credentials: [person] } } as any,
  })
  await presentationIn(call, thid, 'RequestSent')
  const request = await party.next('https://didcomm.atalaprism.io/present-proof/3.0/request-presentation')
  expect(request.attachments).toMatchObject([
    { format: 'dcql/query@v1.0', data: { json: { dcql_query: { credentials: [person] } } } },
  ])
  const data = { base64: Buffer.from(content).toString('base64url') }
  await say({
    type: 'https://didcomm.atalaprism.io/present-proof/3.0/presentation',
    thid,
    body: {},
    attachments: [{ id: '1', format: 'dcql/vp-token@v1.0', data }],
  })
  const { metaLastFailure } = await presentationIn(call, thid, 'PresentationVerificationFailed')
  expect(metaLastFailure!.detail).toContain(reason)
})

test('a wallet that does not know the request reports a problem, which ends it', async () => {
  await using scene = await startWithParty()
  const { call, connectionId, say } = scene
  const { thid } = await call('POST /present-proof/presentations', {
    body: { connectionId, dcqlQuery: { credentials: [person] } } as any,
  })
  await presentationIn(call, thid, 'RequestSent')
  await say({
    type: 'https://didcomm.org/report-problem/2.0/problem-report',
    pthid: thid,
    body: { code: 'e.p.msg.unsupported', comment: 'unknown attachment format' },
  })
  const { metaLastFailure } = await presentationIn(call, thid, 'ProblemReportReceived')
  expect(metaLastFailure!.detail).toContain('unknown attachment format')
})

test.each([
  ['no options', { dcql_query: { credentials: [person] } }],
  ['a query that is none', { options: { challenge: 'c', domain: 'd' }, dcql_query: { credentials: [] } }],
])('a request with %s is refused', async (_, content) => {
  await using scene = await startWithParty()
  const type = 'https://didcomm.org/present-proof/3.0/request-presentation'
  const { status, detail } = await scene.say({
    type,
    thid: 'some-thread',
    attachments: [jsonAttachment('1', content, 'dcql/query@v1.0')],
  })
  expect({ status, detail }).toEqual({
    status: 400,
    detail: expect.stringContaining('The request cannot be read'),
  })
})

test.each([
  [{ claims: { name: '' } }, 'claims'],
  [{ proofs: [{ schemaId: 'x' }] }, 'proofs'],
  [{ credentialFormat: 'JWT' }, 'credentialFormat'],
])('a query and %j are not combined', async (more, member) => {
  await using pair = await startConnected()
  const { issuer, connectionId } = pair
  const body = { connectionId, dcqlQuery: { credentials: [person] }, ...more } as any
  const { status, detail } = await refusal(issuer.call('POST /present-proof/presentations', { body }))
  expect({ status, detail }).toEqual({
    status: 400,
    detail: expect.stringContaining(`${member}: cannot be combined with dcqlQuery`),
  })
})
