/** The holder rejects an offer, over a connection and in an invitation, and the issuer gets a report. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { jsonAttachment } from '../../src/exchange/didcomm/message.ts'
import { acceptOffer, announced, offerByInvitation, acceptOfferInvitation } from '../support/invitation.ts'
import { credentialIn, oobOf, refusal, startPair, type Tenant } from '../support/tenants.ts'
import { openParty, typesOf } from '../support/party.ts'
import { readCredential, failureOf, startWithOffer } from './_steps.ts'

const reject = ({ call }: Tenant, recordId: string) =>
  call('POST /issue-credentials/records/{recordId}/reject-offer', { path: { recordId } })

const code = 'e.p.issuance-abandoned'
const wrongState = { status: 400, type: 'error:CredentialServiceError:InvalidStateForOperation' }

test('an offer is rejected once and permanently, and the issuer gets a report', async () => {
  await using pair = await startWithOffer({ automaticIssuance: true })
  const { agent, issuer, holder, thid, recordId } = pair
  const [first, second] = await Promise.all([reject(holder, recordId), reject(holder, recordId)])
  for (const { protocolState } of [first, second])
    expect(['ProblemReportPending', 'ProblemReportSent']).toContain(protocolState)
  const reported = await credentialIn(issuer.call, thid, 'ProblemReportReceived')
  expect(reported.metaLastFailure).toEqual({
    status: 400,
    type: code,
    title: 'Problem report',
    detail: 'The holder declined the offer.',
  })
  const sent = await credentialIn(holder.call, thid, 'ProblemReportSent')
  expect(await reject(holder, recordId)).toEqual(sent)
  expect(await announced(agent, holder, thid)).toEqual([
    'OfferReceived',
    'ProblemReportPending',
    'ProblemReportSent',
  ])
  expect(await announced(agent, issuer, thid)).toEqual(['OfferPending', 'OfferSent', 'ProblemReportReceived'])

  expect(await refusal(acceptOffer(holder, recordId))).toMatchObject(wrongState)
})

test('only an open offer to the wallet can be rejected', async () => {
  await using pair = await startWithOffer({ automaticIssuance: true })
  const { issuer, holder, thid, recordId } = pair
  expect(await refusal(reject(issuer, pair.issuerRecordId))).toMatchObject(wrongState)
  // An unanswered invitation has no other side.
  expect(await refusal(reject(issuer, (await offerByInvitation(issuer)).recordId))).toMatchObject(wrongState)
  expect(await refusal(reject(issuer, recordId))).toMatchObject({ status: 404 })
  expect(await refusal(reject(holder, randomUUID()))).toMatchObject({ status: 404 })
  await acceptOffer(holder, recordId)
  expect(await refusal(reject(holder, recordId))).toMatchObject(wrongState)
  await credentialIn(holder.call, thid, 'CredentialReceived')
  expect(await refusal(reject(holder, recordId))).toMatchObject(wrongState)
})

test('an offer in an invitation is rejected in the same way, and no other agent can accept it afterwards', async () => {
  await using pair = await startPair()
  const { agent, issuer, holder } = pair
  const made = await offerByInvitation(issuer)
  const invitation = oobOf(made)
  const late = await agent.newTenant('late')
  const { recordId: lateId } = await acceptOfferInvitation(late, invitation)
  const { recordId } = await acceptOfferInvitation(holder, invitation)
  await reject(holder, recordId)
  await credentialIn(holder.call, made.thid, 'ProblemReportSent')
  expect(await announced(agent, issuer, made.thid)).toEqual(['InvitationGenerated', 'ProblemReportReceived'])

  await acceptOffer(late, lateId)
  await expect.poll(async () => (await readCredential(late, lateId)).metaLastFailure).toBeDefined()
  expect(await announced(agent, issuer, made.thid)).toEqual(['InvitationGenerated', 'ProblemReportReceived'])
})

test('a rejection without the invitation is refused', async () => {
  await using pair = await startPair()
  await using stranger = await openParty()
  const made = await offerByInvitation(pair.issuer)
  const from = made.invitation!.from
  const report = (pthid: string) => ({
    type: 'https://didcomm.org/report-problem/2.0/problem-report',
    pthid,
    body: { code },
  })
  // The DID of the invitation is not enough.
  expect((await stranger.send(from, report(randomUUID()))).status).toBe(422)
  expect(await announced(pair.agent, pair.issuer, made.thid)).toEqual(['InvitationGenerated'])

  const { recordId } = await acceptOfferInvitation(pair.holder, oobOf(made))
  await acceptOffer(pair.holder, recordId)
  await credentialIn(pair.holder.call, made.thid, 'CredentialReceived')
  expect((await stranger.send(from, report(made.thid))).status).toBe(422)
  expect(await announced(pair.agent, pair.issuer, made.thid)).not.toContain('ProblemReportReceived')
})

test('an issuer that refuses reports, like the Cloud Agent, leaves the record with the reason', async () => {
  await using pair = await startPair()
  await using party = await openParty({
    answer: (response, count) => response.writeHead(count === 1 ? 200 : 422).end(),
  })
  const { theirDid } = await party.connect(pair.holder)
  await party.next('https://atalaprism.io/mercury/connections/1.0/response')
  const [thid, options] = [randomUUID(), { challenge: 'c', domain: 'd' }]
  const body = { credential_preview: { body: { attributes: [{ name: 'a', value: 'b' }] } } }
  const offer = {
    type: typesOf.offer,
    thid,
    body,
    attachments: [jsonAttachment('1', { options }, 'prism/jwt')],
  }
  expect((await party.send(theirDid, offer)).status).toBe(200)
  const { recordId } = await credentialIn(pair.holder.call, thid, 'OfferReceived')
  await reject(pair.holder, recordId)
  const report = await party.next('https://didcomm.org/report-problem/2.0/problem-report')
  expect(report).toMatchObject({ from: theirDid, thid, pthid: thid, body: { code } })
  expect(await failureOf(pair.holder, recordId)).toMatchObject({
    protocolState: 'ProblemReportPending',
    metaRetries: 0,
    metaLastFailure: { detail: expect.stringContaining('422') },
  })
})
