/** Presenting JWT credentials over a connection. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { decodeJws } from '../../src/credentials/codecs/jws.ts'
import { testOnSqlite } from '../support/on-sqlite.ts'
import { issue, newDid, presentationIn, refusal, until, type Tenant } from '../support/tenants.ts'
import { expectRefusal, actOnProof, prove, requestProof, startWithCredential } from './_steps.ts'

/** Requests a presentation and presents. Returns both records after the verification. */
async function askAndProve(verifier: Tenant, prover: Tenant, body: object, recordId: string, end: string) {
  const { thid, presentationId, request } = await requestProof(verifier, prover, body)
  await prove(prover, presentationId, recordId)
  return { thid, request, verified: await presentationIn(verifier.call, thid, end) }
}

test('a proof is bound to challenge and domain, signed by the subject, and accepted', async () => {
  await using pair = await startWithCredential()
  const options = { challenge: randomUUID(), domain: 'https://verifier.example' }
  const { connectionId, recordId, issuingDID } = pair
  const { thid, request, verified } = await askAndProve(
    pair.issuer,
    pair.holder,
    { connectionId, options, proofs: [] },
    recordId,
    'PresentationVerified',
  )
  expect(request).toMatchObject({ role: 'Prover', proofs: [], data: [], thid })
  expect(request.id).toBe(request.presentationId)
  expect(request).toHaveProperty('connectionId')
  expect(JSON.parse(request.requestData[0]!).options).toEqual(options)
  expect(verified).toMatchObject({ role: 'Verifier', connectionId, proofs: [] })
  const { payload } = decodeJws(verified.data[0]!)
  expect(payload).toMatchObject({
    iss: pair.subject.longFormDid,
    aud: options.domain,
    nonce: options.challenge,
    vp: { type: ['VerifiablePresentation'] },
  })
  expect(payload).not.toHaveProperty('exp')
  expect(issuingDID).toMatch(/^did:prism:[0-9a-f]{64}$/)
  const act = (action: 'presentation-accept' | 'presentation-reject') =>
    actOnProof(pair.issuer, verified.presentationId, { action })
  expect((await act('presentation-accept')).status).toBe('PresentationAccepted')
  expect((await act('presentation-accept')).status).toBe('PresentationAccepted')
  await expectRefusal(act('presentation-reject'), 400, /PresentationAccepted.*PresentationVerified/)
})

testOnSqlite('without options the challenge is random', async () => {
  await using pair = await startWithCredential()
  const requests = await Promise.all(
    [1, 2].map(() =>
      pair.issuer.call('POST /present-proof/presentations', { body: { connectionId: pair.connectionId } }),
    ),
  )
  const [one, two] = requests.map(({ requestData }) => JSON.parse(requestData[0]!).options)
  expect(one.domain).toBe('default-domain')
  expect(one.challenge).not.toBe(two.challenge)
})

testOnSqlite('a credential outside the constraints fails, and the prover gets the reason', async () => {
  await using pair = await startWithCredential()
  const { connectionId, recordId, issuingDID, subject } = pair
  for (const proof of [
    { schemaId: 'https://example.com/schema' },
    { schemaId: 'https://example.com/schema', trustIssuers: [issuingDID] },
  ]) {
    const { thid, verified } = await askAndProve(
      pair.issuer,
      pair.holder,
      { connectionId, proofs: [proof] },
      recordId,
      'PresentationVerificationFailed',
    )
    expect(verified.metaLastFailure?.detail).toMatch(/schema/)
    const reported = await presentationIn(pair.holder.call, thid, 'ProblemReportReceived')
    expect(reported.metaLastFailure).toMatchObject({
      type: 'e.p.presentation-verification-failed',
      detail: verified.metaLastFailure?.detail,
    })
    const accept = actOnProof(pair.issuer, verified.presentationId, { action: 'presentation-accept' })
    expect((await refusal(accept)).status).toBe(400)
  }
  expect(subject.did).toMatch(/^did:prism:/)
})

testOnSqlite('an unusable credential is refused, and the request stays open', async () => {
  await using pair = await startWithCredential()
  const { connectionId, recordId, issuingDID } = pair
  const second = await newDid(pair.holder, 'authentication')
  const other = await issue(pair.issuer, pair.holder, connectionId, issuingDID, second.did)
  const { thid, presentationId } = await requestProof(pair.issuer, pair.holder, { connectionId })
  const act = (body: object) => refusal(actOnProof(pair.holder, presentationId, body))
  expect(await act({ action: 'request-accept' })).toMatchObject({
    status: 400,
    detail: expect.stringContaining('proofId'),
  })
  expect(await act({ action: 'request-accept', proofId: [] })).toMatchObject({ status: 400 })
  expect(await act({ action: 'request-accept', proofId: [randomUUID()] })).toMatchObject({ status: 404 })
  expect(await act({ action: 'request-accept', proofId: [recordId, other.recordId] })).toMatchObject({
    status: 400,
    type: 'error:PresentationError:HolderBindingError',
  })
  expect(await act({ action: 'presentation-accept' })).toMatchObject({ status: 400 })
  expect(await act({ action: 'dance' })).toMatchObject({
    status: 400,
    detail: expect.stringContaining('action'),
  })
  expect((await presentationIn(pair.holder.call, thid, 'RequestReceived')).data).toEqual([])
})

testOnSqlite(
  'a credential of a deactivated DID cannot be presented, and the request stays open',
  async () => {
    await using pair = await startWithCredential()
    const { connectionId, recordId, subject, holder } = pair
    const path = { didRef: subject.did }
    const flush = () =>
      until(
        'the confirmation of the operation',
        () => holder.call('GET /did-registrar/dids/{didRef}', { path }),
        ({ pendingOperation, status }) => status === 'PUBLISHED' && pendingOperation === undefined,
      )
    await holder.call('POST /did-registrar/dids/{didRef}/publications', { path })
    await flush()
    await holder.call('POST /did-registrar/dids/{didRef}/deactivations', { path })
    await flush()

    const { thid, presentationId } = await requestProof(pair.issuer, holder, { connectionId })
    const accepted = prove(holder, presentationId, recordId)
    await expectRefusal(accepted, 400, 'is deactivated and can sign nothing')
    await presentationIn(holder.call, thid, 'RequestReceived')
  },
)

test('a prover that declined cannot present', async () => {
  await using pair = await startWithCredential()
  const { thid, presentationId } = await requestProof(pair.issuer, pair.holder, {
    connectionId: pair.connectionId,
  })
  const act = (body: object) => actOnProof(pair.holder, presentationId, body)
  expect((await act({ action: 'request-reject' })).status).toBe('RequestRejected')
  expect((await act({ action: 'request-reject' })).status).toBe('RequestRejected')
  expect((await refusal(act({ action: 'request-accept', proofId: [pair.recordId] }))).status).toBe(400)
  expect((await presentationIn(pair.issuer.call, thid, 'RequestSent')).data).toEqual([])
})
