/** Presenting JWT credentials over a connection. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { decodeJws } from '../../src/credentials/jws.ts'
import {
  connect,
  issue,
  newDid,
  presentationIn,
  refusal,
  startPair,
  until,
  type Tenant,
} from '../_tenants.ts'

/** A connected pair whose holder has a credential. */
async function startWithCredential() {
  const pair = await startPair()
  const { inviterConnectionId: connectionId } = await connect(pair.issuer, pair.holder)
  const [issuer, subject] = [
    await newDid(pair.issuer, 'assertionMethod'),
    await newDid(pair.holder, 'authentication'),
  ]
  const { recordId } = await issue(pair.issuer, pair.holder, connectionId, issuer.did, subject.did)
  return {
    ...pair,
    connectionId,
    recordId,
    issuingDID: issuer.did,
    subject,
    [Symbol.asyncDispose]: () => pair[Symbol.asyncDispose](),
  }
}

/** Requests a presentation and presents. Returns both records after the verification. */
async function prove(verifier: Tenant, prover: Tenant, body: object, proofId: string[], end: string) {
  const { thid } = await verifier.call('POST /present-proof/presentations', { body: body as never })
  const request = await presentationIn(prover.call, thid, 'RequestReceived')
  await prover.call('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId: request.presentationId },
    body: { action: 'request-accept', proofId },
  })
  return { thid, request, verified: await presentationIn(verifier.call, thid, end) }
}

test('a proof is bound to challenge and domain, signed by the subject, and accepted', async () => {
  await using pair = await startWithCredential()
  const options = { challenge: randomUUID(), domain: 'https://verifier.example' }
  const { connectionId, recordId, issuingDID } = pair
  const { thid, request, verified } = await prove(
    pair.issuer,
    pair.holder,
    { connectionId, options, proofs: [] },
    [recordId],
    'PresentationVerified',
  )
  expect(request).toMatchObject({ role: 'Prover', proofs: [], data: [], thid })
  expect(request.id).toBe(request.presentationId)
  expect(request).not.toHaveProperty('connectionId')
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
  const path = { presentationId: verified.presentationId }
  const act = (action: 'presentation-accept' | 'presentation-reject') =>
    pair.issuer.call('PATCH /present-proof/presentations/{presentationId}', { path, body: { action } })
  expect((await act('presentation-accept')).status).toBe('PresentationAccepted')
  expect((await act('presentation-accept')).status).toBe('PresentationAccepted')
  expect(await refusal(act('presentation-reject'))).toMatchObject({
    status: 400,
    detail: expect.stringMatching(/PresentationAccepted.*PresentationVerified/),
  })
})

test('without options the challenge is random', async () => {
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

test('a credential outside the constraints fails, and the prover gets the reason', async () => {
  await using pair = await startWithCredential()
  const { connectionId, recordId, issuingDID, subject } = pair
  for (const proof of [
    { schemaId: 'https://example.com/schema' },
    { schemaId: 'https://example.com/schema', trustIssuers: [issuingDID] },
  ]) {
    const { thid, verified } = await prove(
      pair.issuer,
      pair.holder,
      { connectionId, proofs: [proof] },
      [recordId],
      'PresentationVerificationFailed',
    )
    expect(verified.metaLastFailure?.detail).toMatch(/schema/)
    const reported = await presentationIn(pair.holder.call, thid, 'ProblemReportReceived')
    expect(reported.metaLastFailure).toMatchObject({
      type: 'e.p.presentation-verification-failed',
      detail: verified.metaLastFailure?.detail,
    })
    const accept = pair.issuer.call('PATCH /present-proof/presentations/{presentationId}', {
      path: { presentationId: verified.presentationId },
      body: { action: 'presentation-accept' },
    })
    expect((await refusal(accept)).status).toBe(400)
  }
  expect(subject.did).toMatch(/^did:prism:/)
})

test('an unusable credential is refused, and the request stays open', async () => {
  await using pair = await startWithCredential()
  const { connectionId, recordId, issuingDID } = pair
  const second = await newDid(pair.holder, 'authentication')
  const other = await issue(pair.issuer, pair.holder, connectionId, issuingDID, second.did)
  const { thid } = await pair.issuer.call('POST /present-proof/presentations', { body: { connectionId } })
  const { presentationId } = await presentationIn(pair.holder.call, thid, 'RequestReceived')
  const act = (body: object) =>
    refusal(
      pair.holder.call('PATCH /present-proof/presentations/{presentationId}', {
        path: { presentationId },
        body: body as never,
      }),
    )
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

test('a credential of a deactivated DID cannot be presented, and the request stays open', async () => {
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

  const { thid } = await pair.issuer.call('POST /present-proof/presentations', { body: { connectionId } })
  const { presentationId } = await presentationIn(holder.call, thid, 'RequestReceived')
  const accepted = holder.call('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId },
    body: { action: 'request-accept', proofId: [recordId] },
  })
  expect(await refusal(accepted)).toMatchObject({
    status: 400,
    detail: expect.stringContaining('is deactivated and can sign nothing'),
  })
  await presentationIn(holder.call, thid, 'RequestReceived')
})

test('a prover that declined cannot present', async () => {
  await using pair = await startWithCredential()
  const { thid } = await pair.issuer.call('POST /present-proof/presentations', {
    body: { connectionId: pair.connectionId },
  })
  const { presentationId } = await presentationIn(pair.holder.call, thid, 'RequestReceived')
  const act = (body: object) =>
    pair.holder.call('PATCH /present-proof/presentations/{presentationId}', {
      path: { presentationId },
      body: body as never,
    })
  expect((await act({ action: 'request-reject' })).status).toBe('RequestRejected')
  expect((await act({ action: 'request-reject' })).status).toBe('RequestRejected')
  expect((await refusal(act({ action: 'request-accept', proofId: [pair.recordId] }))).status).toBe(400)
  expect((await presentationIn(pair.issuer.call, thid, 'RequestSent')).data).toEqual([])
})
