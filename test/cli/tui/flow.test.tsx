/** Two people at their dashboards: everything that keys do, with agents that do it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startAgent, type TestAgent } from '../../support/agent.ts'
import { connect, credentialIn, issue, newDid, presentationIn, refusal } from '../../support/tenants.ts'
import { offerByInvitation } from '../../support/invitation.ts'
import { openReceiver } from '../../support/receiver.ts'
import { codes, pasted } from './_dashboard.ts'
import { showNewTenant, showTenant } from './_live.ts'

let agent: TestAgent

beforeAll(async () => void (agent = await startAgent()))
afterAll(() => agent[Symbol.asyncDispose]())

/** The dashboards of the issuer and the holder, each with a wallet of its own. */
async function two() {
  const [issuer, holder] = [await agent.newTenant('issuer'), await agent.newTenant('holder')]
  const [left, right] = [await showTenant(agent.url, issuer), await showTenant(agent.url, holder)]
  const close = async () => [left, right].forEach((each) => each.close())
  return { issuer, holder, left, right, [Symbol.asyncDispose]: close }
}

test('an invitation is created, shown, copied, pasted and accepted, and its QR code closes', async () => {
  await using both = await two()
  const { left, right } = both
  expect(left.frame()).toContain('This wallet is new')
  await left.after('n', '1', 'Bob', codes.tab, 'Come in', codes.enter).shows('Invitation “Bob”')
  await left.type('y')
  const [url] = left.copied
  expect(url).toContain('_oobid=')
  expect(left.frame().replaceAll(/[│\s]/g, '')).toContain('Onlythiscomputerreachesthisaddress.')
  await left.type('l', 'y', 'l')
  expect(left.copied[1]).toContain('_oob=')
  await left.type(codes.escape, 'U', 'Q')
  expect(left.copied[2]).toBe(left.copied[1])

  await right.after(...pasted(` ${url}\n`)).shows('Accept an invitation, an offer or a request')
  await right.after(codes.enter).shows('The invitation asks to connect. Accept it?')
  expect(right.frame()).toContain('Purpose: “Come in”')
  await right.after('y').shows('ConnectionResponseReceived (connected)')
  await left.shows('The invitation is answered.')
  await left.shows('ConnectionResponseSent (connected)')
  await left.type(codes.enter)
  expect(left.frame()).toMatch(/timeline[ │]*\n.*InvitationGenerated[ │]*\n.*ConnectionRequestReceived/)
})

test('a short URL that returns no invitation is refused with its reason', async () => {
  await using alone = await showNewTenant(agent)
  const { dashboard } = alone
  const url = `${agent.url}/i?_oobid=${'x'.repeat(16)}`
  await dashboard.after(...pasted(url)).shows('Accept an invitation, an offer or a request')
  await dashboard.after(codes.enter).shows(/✗ .*could not be retrieved/)
})

test('a credential is offered, accepted, issued, requested, presented, accepted and revoked by keys alone', async () => {
  await using both = await two()
  const { issuer, holder, left, right } = both
  await connect(issuer, holder)
  await left.shows('ConnectionResponseSent')

  await left.after('n', '3').shows('Offer a credential: over')
  await left.after(codes.enter).shows('a new DID, made and published now')
  await left.after(codes.enter).shows('Claims of the credential')
  await left
    .after('name=Alice', codes.tab, 'age:=42', codes.enter)
    .shows('The offer is on its way to the holder.')

  await right.after('2').shows('OfferReceived (waiting for your answer)')
  expect(right.frame()).toContain('!name=Alice age=42')
  await right.after('a').shows('a new DID, made now')
  expect(right.frame()).toMatch(/From 127\.0\.0\.1:\d+ \w{8} /)
  expect(right.frame()).toContain('JWT credential: name=Alice age=42')
  await right.after(codes.enter).shows('RequestSent (')
  await left.after('2').shows('RequestReceived (')
  await left.after('i').shows('CredentialSent (issued)')
  await right.shows('CredentialReceived (in your wallet)')
  await right.shows('not revoked')

  await left.after('n', '4').shows('Request a proof: from')
  await left.after(codes.enter).shows('Proof request')
  await left.after(codes.enter).shows('A request needs an issuer')
  const [{ did } = { did: '' }] = (await issuer.call('GET /did-registrar/dids')).contents
  await left.type(codes.tab, did, codes.enter)
  await right.after('3').shows('RequestReceived (waiting for your answer)')
  await right.after('p').shows(/› 1 name=Alice age=42 \(JWT, (?:now|\d+ s ago)\) {2}did:prism:.*…/)
  expect(right.frame()).toMatch(/127\.0\.0\.1:\d+ \w{8} asks for any JWT credential, issued by/)
  await right.after(codes.enter).shows('PresentationSent (presented)')
  await left.after('3').shows('PresentationVerified (the presentation is valid)')
  expect(left.frame()).toMatch(/shown name +Alice/)
  await left.after('v').shows('PresentationAccepted (accepted)')

  await left.after('2').shows('not revoked')
  await left.type('r', 'n')
  expect(left.frame()).toContain('not revoked')
  await left.after('r').shows('Revoke this credential? This cannot be undone. Verifiers will refuse it.')
  await left.after('y').shows('status      revoked on')
  await right.after('2').shows(/status +revoked on .* \(by the issuer\)/)
  await left.after('r').shows('There is no “revoke” now')
})

test('an SD-JWT is bound to the chosen key, and Esc cancels the action', async () => {
  await using both = await two()
  const { issuer, holder, right } = both
  const [{ inviterConnectionId: connectionId }, { did: issuingDID }, { did }] = [
    await connect(issuer, holder),
    await newDid(issuer, 'assertionMethod'),
    await newDid(holder, 'authentication'),
  ]
  const body = {
    connectionId,
    issuingDID,
    claims: { name: 'Alice' },
    credentialFormat: 'SDJWT' as const,
    automaticIssuance: true,
  }
  const { thid } = await issuer.call('POST /issue-credentials/credential-offers', { body })
  await right.after('2').shows('OfferReceived (')
  await right.after('a').shows(did.slice(0, 20))
  await right.after(codes.enter).shows('Bind the SD-JWT to a key')
  await right.after(codes.escape).shows('OfferReceived (')
  expect((await credentialIn(holder.call, thid, 'OfferReceived')).subjectId).toBeUndefined()
  await right.after('a').shows(did.slice(0, 20))
  await right.after(codes.enter).shows('to key-1')
  await right.after(codes.enter).shows('bound to a key of the')
})

test('an offer in an invitation is announced, received, and rejected after confirmation', async () => {
  await using both = await two()
  const { issuer, right } = both
  const { invitation } = await offerByInvitation(issuer, { goal: 'Your diploma' })
  await right
    .after('n', '2', ...pasted(invitation!.invitationUrl), codes.enter)
    .shows('The invitation offers a credential. Accept it?')
  expect(right.frame()).toContain('“Your diploma”')
  await right.after('y').shows('The offer has arrived: a accepts it.')
  await right.after('2').shows('OfferReceived (')
  await right.after('x').shows('Decline this offer?')
  await right.after('y').shows('The offer is declined, and the issuer is notified.')
  await right.shows('ProblemReportSent')
})

test('a request is declined, and one without a matching credential has a reason', async () => {
  await using both = await two()
  const { issuer, holder, right } = both
  const { inviterConnectionId: connectionId } = await connect(issuer, holder)
  const { thid } = await issuer.call('POST /present-proof/presentations', {
    body: { connectionId, proofs: [] },
  })
  await right.after('3').shows('RequestReceived (')
  await right.after('p').shows('No credential of this wallet matches the request (it holds none).')
  await right.after('x', 'y').shows('RequestRejected')
  await presentationIn(holder.call, thid, 'RequestRejected')
})

test('a verified presentation can be rejected', async () => {
  await using both = await two()
  const { issuer, holder, left } = both
  const { inviterConnectionId: connectionId } = await connect(issuer, holder)
  const [{ did: issuingDID }, { did }] = [
    await newDid(issuer, 'assertionMethod'),
    await newDid(holder, 'authentication'),
  ]
  const { recordId } = await issue(issuer, holder, connectionId, issuingDID, did)
  const { thid } = await issuer.call('POST /present-proof/presentations', {
    body: { connectionId, proofs: [] },
  })
  const { presentationId } = await presentationIn(holder.call, thid, 'RequestReceived')
  const body = { action: 'request-accept' as const, proofId: [recordId] }
  await holder.call('PATCH /present-proof/presentations/{presentationId}', { path: { presentationId }, body })
  await left.after('3').shows('PresentationVerified (')
  await left.after('x').shows('Reject this presentation?')
  await left.after('y').shows('PresentationRejected')
})

test('a withdrawn invitation leaves the list', async () => {
  await using alone = await showNewTenant(agent)
  const { tenant, dashboard } = alone
  const { connectionId } = await tenant.call('POST /connections', { body: { label: 'nobody' } })
  await dashboard.shows('nobody')
  await dashboard.type('x', codes.enter)
  expect(dashboard.frame()).toContain('nobody')
  await dashboard.after('x', 'y').shows('The invitation is withdrawn.')
  expect(dashboard.frame()).not.toContain('nobody')
  expect(
    (await refusal(tenant.call('GET /connections/{connectionId}', { path: { connectionId } }))).status,
  ).toBe(404)
})

test('offers and requests by invitation are shown as QR codes until they are answered', async () => {
  await using both = await two()
  const { issuer, holder, left } = both
  await left.after('n', '3').shows('Anyone')
  await left.after(codes.enter).shows('a new DID')
  await left.after(codes.enter).shows('Claims of the credential')
  await left
    .after('name=Alice', codes.tab, codes.tab, codes.tab, '9x', codes.enter)
    .shows('✗ expires "9x" is not a duration')
  await left
    .after(codes.backspace, 'd', codes.tab, codes.tab, 'Your diploma', codes.enter)
    .shows('Invitation to accept the offer')
  const [offered] = (await issuer.call('GET /issue-credentials/records')).contents
  expect(offered).toMatchObject({ validityPeriod: 9 * 86_400, goal: 'Your diploma' })
  await left.type('l', 'y')
  await holder.call('POST /issue-credentials/credential-offers/accept-invitation', {
    body: { invitation: left.copied[0]! },
  })
  await left.after(codes.escape, 'n', '4').shows('Anyone')
  await left.after(codes.enter).shows('Proof request')
  await left
    .after(codes.tab, 'any', codes.tab, 'Who are you?', codes.enter)
    .shows('Invitation to present a proof')
  await left.after(codes.escape, '3').shows(/goal +Who are you\?/)
})

test('a DID is created and published, and a DID of another program appears when the pane opens', async () => {
  await using alone = await showNewTenant(agent)
  const { tenant, dashboard } = alone
  await dashboard.after('n', '5').shows('The DID is created')
  await dashboard.after('4', 'p').shows('state  PUBLISHED')
  await newDid(tenant, 'authentication')
  await dashboard.after('1', '4').shows('[4 DIDs 2]')
})

test('a webhook is tested, and what it took and did not take is listed', async () => {
  await using receiver = await openReceiver((response, count) =>
    response.writeHead(count === 1 ? 500 : 200).end(),
  )
  await using alone = await showNewTenant(agent)
  const { tenant, dashboard } = alone
  await tenant.call('POST /events/webhooks', { body: { url: receiver.url } })
  await dashboard.after('5').shows(receiver.url)
  await dashboard.after('t').shows('The receiver did not accept the test event')
  await dashboard.shows(/failed {5}The receiver answered 500\. {2}1 attempt {2}/)
  await dashboard.after('t').shows('The receiver accepted the test event with status 200')
  await tenant.call('POST /connections', { body: {} })
  await dashboard.shows(/delivered {2}200 .* ConnectionUpdated {2}/)
  await dashboard.after('s').shows('There are no failed deliveries to retry.')
})

test('events are listed as they arrive, with their thread', async () => {
  await using both = await two()
  const { issuer, holder, left } = both
  await left.after('6').shows('There are no events yet.')
  await connect(issuer, holder)
  await left.shows('[6 Events 4]')
  await left.shows(
    /timeline[ │]*\n.*InvitationGenerated[ │]*\n.*ConnectionRequestReceived[ │]*\n.*ConnectionResponsePending/,
  )
})
