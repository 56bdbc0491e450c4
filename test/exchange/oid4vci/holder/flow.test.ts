/**
 * Transaction codes, deferred credentials, DPoP, expiry, rejection, presentation over DIDComm, and what a
 * restart leaves.
 */
import { expect, test } from 'vitest'
import { Daemon } from '../../../support/daemon.ts'
import { withProbe } from '../../../support/kill-points.ts'
import { connect, presentationIn, refusal, until } from '../../../support/tenants.ts'
import { offer, recordOf } from '../_wallet.ts'
import { accept, inState, licence, receive, show, startHolderPair, take } from './_holder.ts'
import { startFakeIssuer } from './_issuer.ts'
import { untilEnd } from '../../../support/shared.ts'

const pair = await untilEnd(startHolderPair())

const detailOf = async (call: Promise<unknown>) => (await refusal(call)).detail

test('a transaction code is asked for, checked, and can be corrected', async () => {
  const { setup, holder } = pair
  const { credentialOffer, txCode } = await offer(setup, {
    txCode: { length: 6, description: 'In the letter' },
  })
  const { recordId, openid4vci } = await receive(holder, credentialOffer)
  expect(openid4vci!.txCode).toEqual({ inputMode: 'numeric', length: 6, description: 'In the letter' })
  expect(await detailOf(accept(holder, recordId))).toContain('txCode is missing')
  expect(await detailOf(accept(holder, recordId, '123'))).toContain('3 characters instead of 6')
  expect(await detailOf(accept(holder, recordId, 'abcdef'))).toContain('digits')
  const wrong = txCode === '000000' ? '000001' : '000000'
  expect(await detailOf(accept(holder, recordId, wrong))).toContain('Compare txCode')
  expect((await show(holder, recordId)).protocolState).toBe('OfferReceived')
  await accept(holder, recordId, txCode)
  await inState(holder, recordId, 'CredentialReceived')
})

test('a transaction code, a subject or a key that the offer does not need is refused', async () => {
  const { setup, holder } = pair
  const { credentialOffer } = await offer(setup, { txCode: false })
  const { recordId } = await receive(holder, credentialOffer)
  expect(await detailOf(accept(holder, recordId, '123456'))).toContain('txCode: leave it out')
  const accepted = holder.call('POST /issue-credentials/records/{recordId}/accept-offer', {
    path: { recordId },
    body: { subjectId: 'did:key:z6Mk' },
  })
  expect(await detailOf(accepted)).toContain('subjectId: leave it out')
})

test('an offer that was redeemed by another wallet, or has expired', async () => {
  const { setup, holder } = pair
  const { credentialOffer } = await offer(setup, { txCode: false, byReference: true })
  const stranger = await pair.agent.newTenant('stranger')
  const [one, other] = [await receive(holder, credentialOffer), await receive(stranger, credentialOffer)]
  await accept(holder, one.recordId)
  expect(await detailOf(accept(stranger, other.recordId))).toContain('ask for a new offer')
  await inState(holder, one.recordId, 'CredentialReceived')
  expect(await detailOf(receive(holder, credentialOffer))).toContain('has expired')
})

test('a rejected offer cannot be accepted', async () => {
  const { setup, holder } = pair
  const { credentialOffer } = await offer(setup, { txCode: false })
  const { recordId } = await receive(holder, credentialOffer)
  const reject = () =>
    holder.call('POST /issue-credentials/records/{recordId}/reject-offer', { path: { recordId } })
  expect((await reject()).protocolState).toBe('OfferRejected')
  expect((await reject()).protocolState).toBe('OfferRejected')
  expect(await refusal(accept(holder, recordId))).toMatchObject({
    type: 'error:CredentialServiceError:InvalidStateForOperation',
  })
})

test('the requests use DPoP with the nonces of the issuer', async () => {
  const { recordId } = await take(pair, { txCode: false })
  const { openid4vci } = await inState(pair.holder, recordId, 'CredentialReceived')
  const outcomes = openid4vci!.calls.map(({ url, outcome }) => `${url.split('/').at(-1)} ${outcome}`)
  expect(outcomes).toEqual(expect.arrayContaining(['token 400 use_dpop_nonce', 'token 200']))
  expect(outcomes).toEqual(expect.arrayContaining(['credentials 401 use_dpop_nonce', 'credentials 200']))
})

test.each([{}, licence])('a credential of %j is deferred until the issuer decides', async (options) => {
  const { setup, holder } = pair
  const made = await take(pair, { ...options, txCode: false, automaticIssuance: false })
  await inState(holder, made.recordId, 'CredentialDeferred')
  await setup.tenant.call('POST /issue-credentials/records/{recordId}/issue-credential', {
    path: { recordId: made.issuerRecordId },
  })
  await inState(holder, made.recordId, 'CredentialReceived')
  await until(
    'the notification',
    () => recordOf(setup, made.issuerRecordId),
    ({ notification }) => notification?.event === 'credential_accepted',
  )
})

test('a received SD-JWT is presented over DIDComm, bound to its key', async () => {
  const { agent, holder } = pair
  const { recordId } = await take(pair, { ...licence, txCode: false })
  await inState(holder, recordId, 'CredentialReceived')
  const verifier = await agent.newTenant('verifier')
  const { inviterConnectionId: connectionId } = await connect(verifier, holder)
  const { thid, presentationId } = await verifier.call('POST /present-proof/presentations', {
    body: {
      connectionId,
      credentialFormat: 'SDJWT',
      proofs: [],
      claims: { name: {} },
      options: { challenge: 'challenge', domain: 'domain' },
    },
  })
  const asked = await presentationIn(holder.call, thid, 'RequestReceived')
  await holder.call('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId: asked.presentationId },
    body: { action: 'request-accept', proofId: [recordId], claims: { name: {} } },
  })
  const verified = await presentationIn(verifier.call, thid, 'PresentationVerified')
  expect(verified.presentationId).toBe(presentationId)
  expect(verified.disclosedClaims).toMatchObject({ name: 'Alice' })
})

test('an offer that nobody answers expires', async () => {
  await using issuer = await startFakeIssuer()
  await using daemon = await Daemon.start({ FLOW_EXPIRY: '1' })
  const holder = await daemon.newTenant('holder')
  const { recordId } = await receive(holder, issuer.offer())
  const { metaLastFailure } = await inState(holder, recordId, 'OfferExpired')
  expect(metaLastFailure).toMatchObject({ type: 'FlowExpired' })
})

test.each([
  ['commit:before', 1],
  ['commit:before', 2],
  ['commit:before', 3],
  ['commit:after', 1],
  ['commit:after', 2],
  ['commit:after', 3],
])('a daemon that dies at %s %i after it has stored the token continues the issuance', async (point, nth) => {
  await using issuer = await startFakeIssuer()
  await using daemon = await Daemon.start({ ...withProbe, FAULTS: JSON.stringify({ awaits: true }) })
  const holder = await daemon.newTenant('holder')
  const { recordId } = await receive(holder, issuer.offer())
  // The credential request waits until the daemon is to die at a commit that follows it.
  let isReady: () => void
  const ready = new Promise<void>((resolve) => (isReady = resolve))
  let asked = 0
  issuer.on('nonce', async (_, usual) => {
    if (++asked === 1) await ready
    return usual
  })
  await accept(holder, recordId)
  await until(
    'the nonce request',
    async () => issuer.at('nonce').length,
    (count) => count > 0,
  )
  await daemon.exchange({ type: 'kill', kill: { point, nth } })
  isReady!()
  await daemon.ended
  await daemon.start()
  const held = await inState(holder, recordId, 'CredentialReceived')
  expect(held.claims).toEqual({ name: 'Alice' })
  expect(issuer.at('token').length).toBe(1)
  await until(
    'the notification',
    async () => issuer.at('notification').length,
    (count) => count > 0,
  )
})
