/**
 * The wallet of another tenant answers DID requests and challenges by their short URLs, with credentials that
 * the organisation has issued.
 */
import { expect, test } from 'vitest'
import { refusal } from '../../support/tenants.ts'
import { act, inState, receive, startWallet } from '../oid4vp/holder/_holder.ts'
import { challengeOf, didRequestOf, newChallenge, newDidRequest } from './_openid4vp.ts'
import { untilEnd } from '../../support/shared.ts'

const wallet = await untilEnd(startWallet())

/** Receives the request of a short URL and accepts it. */
async function answerLink({ shortUrl }: { shortUrl?: string | undefined }, body: object = {}) {
  const { presentationId } = await receive(wallet.holder, shortUrl!)
  await act(wallet.holder, presentationId, { action: 'request-accept', ...body })
  return inState(wallet.holder.call, presentationId, 'PresentationSent')
}

test('the default query: an SD-JWT that the organisation has issued, without its claims', async () => {
  const { issuer, subject } = wallet
  const made = await newDidRequest(issuer, {})
  await answerLink(made)
  const onboarded = await didRequestOf(issuer, made.id)
  expect(onboarded).toMatchObject({
    state: 'success',
    did: subject.longFormDid,
    openid4vp: { credentials: [{ credentialId: 'sd_jwt', claims: {} }] },
  })
  const challenge = await newChallenge(issuer, {}, subject.did)
  await answerLink(challenge)
  expect(await challengeOf(issuer, challenge.id)).toMatchObject({ state: 'success', did: onboarded.did })
  expect(await refusal(receive(wallet.holder, challenge.shortUrl!))).toMatchObject({ status: 422 })
})

test('a JWT credential signs in its subject, until it is revoked', async () => {
  const { issuer, holder, subjectId } = wallet
  const { recordId, issuerRecordId } = await wallet.toHolder({ role: 'employee' })
  const challenge = await newChallenge(issuer, {}, subjectId)
  await answerLink(challenge, { proofId: [recordId] })
  const done = await challengeOf(issuer, challenge.id)
  expect(done).toMatchObject({ state: 'success', openid4vp: { credentials: [{ credentialId: 'jwt' }] } })
  await issuer.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: issuerRecordId } })
  const late = await newChallenge(issuer, {})
  const received = await receive(holder, late.shortUrl!)
  expect(
    await refusal(act(holder, received.presentationId, { action: 'request-accept', proofId: [recordId] })),
  ).toMatchObject({ detail: expect.stringContaining('revoked') })
})

test('a link without OpenID4VP is refused with the command that answers it', async () => {
  const { shortUrl } = await wallet.issuer.call('POST /onboard/did-requests', { body: {} })
  expect(await refusal(receive(wallet.holder, shortUrl!))).toMatchObject({
    status: 400,
    detail: expect.stringContaining('agent accept'),
  })
})

test('another tenant does not accept the credential of an issuer that it does not trust', async () => {
  const { verifier, holder } = wallet
  const challenge = await newChallenge(verifier.tenant, {})
  const { presentationId } = await receive(holder, challenge.shortUrl!)
  await act(holder, presentationId, { action: 'request-accept' })
  await inState(holder.call, presentationId, 'ProblemReportReceived')
  const { state, openid4vp } = await challengeOf(verifier.tenant, challenge.id)
  expect(state).toBe('error')
  expect(openid4vp!.checks!.find(({ result }) => result === 'failed')).toMatchObject({ name: 'trust' })
})
