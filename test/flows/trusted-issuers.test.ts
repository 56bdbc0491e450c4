/** Automatically accepted offers with a list of accepted issuers. */
import { expect, test } from 'vitest'
import { sharedAgent, startAgent } from '../_agent.ts'
import { Daemon } from '../_daemon.ts'
import { claims, publishDefinition } from '../anoncreds/_definition.ts'
import {
  connect,
  connectionIn,
  credentialIn,
  newDid,
  oobOf,
  refusal,
  until,
  type Tenant,
} from '../_tenants.ts'
import { acceptOfferWith, issueRequested, startConnected } from './_steps.ts'

const refused = {
  type: 'error:CredentialServiceError:InvalidCredentialIssue',
  detail: expect.stringContaining('trusted issuers'),
}

/** A connected pair whose issuer has two DIDs; `trust` sets the automatic acceptance of the holder's connection. */
async function startScene() {
  const pair = await startConnected({}, 'Ed25519')
  const { issuer, holder, connectionId, subjectId } = pair
  return {
    ...pair,
    named: { did: pair.issuingDID, longFormDid: pair.issuingLongForm },
    other: await newDid(issuer, 'assertionMethod', 'Ed25519'),
    trust: (automaticAcceptance: object) =>
      holder.call('PATCH /connections/{connectionId}', {
        path: { connectionId: pair.holderConnectionId },
        body: { automaticAcceptance: { credentialOffers: true, subjectId, ...automaticAcceptance } },
      }),
    offer: (issuingDID: string, more: object = {}) =>
      issuer.call('POST /issue-credentials/credential-offers', {
        body: { connectionId, issuingDID, claims: { a: 1 }, automaticIssuance: true, ...more },
      }),
  }
}

const heldBy = async ({ call }: Tenant) =>
  (await call('GET /issue-credentials/records')).contents
    .filter(({ credential }) => credential !== undefined)
    .map(({ thid }) => thid)

test.each(['JWT', 'SDJWT'])(
  'a %s of a listed issuer is stored, and one of another issuer is refused',
  async (credentialFormat) => {
    await using scene = await startScene()
    const { holder, issuer, named, other } = scene
    // The credential of a published DID has the short form.
    const { automaticAcceptance } = await scene.trust({
      trustedIssuers: ['did:web:acme.example', named.longFormDid],
    })
    expect(automaticAcceptance).toMatchObject({
      trustedIssuers: ['did:web:acme.example', named.longFormDid],
    })

    const good = await scene.offer(named.did, { credentialFormat })
    await credentialIn(holder.call, good.thid, 'CredentialReceived')
    const bad = await scene.offer(other.did, { credentialFormat })
    const ended = await credentialIn(holder.call, bad.thid, 'ProblemReportSent')
    expect(ended.metaLastFailure).toMatchObject(refused)
    expect(ended.metaLastFailure!.detail).toContain(other.did)
    expect(
      (await credentialIn(issuer.call, bad.thid, 'ProblemReportReceived')).metaLastFailure,
    ).toMatchObject({
      type: 'e.p.trust.credential-refused',
      detail: ended.metaLastFailure!.detail,
    })
    expect(await heldBy(holder)).toEqual([good.thid])
  },
)

test('an unpublished issuer can be listed by its long form or its short form', async () => {
  await using scene = await startScene()
  const { longFormDid } = await scene.issuer.call('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys: [{ id: 'key-1', purpose: 'assertionMethod' }] } },
  })
  for (const trusted of [longFormDid, longFormDid.split(':').slice(0, 3).join(':')]) {
    await scene.trust({ trustedIssuers: [trusted] })
    await credentialIn(scene.holder.call, (await scene.offer(longFormDid)).thid, 'CredentialReceived')
  }
})

test('the issuers at the time of acceptance apply to the credential, even if the rule changes later', async () => {
  await using scene = await startScene()
  const { holder, issuer, named, other } = scene
  const issueLater = async ({ recordId, thid }: { recordId: string; thid: string }) => {
    await credentialIn(issuer.call, thid, 'RequestReceived')
    await issueRequested(issuer, recordId)
  }
  await scene.trust({ trustedIssuers: [named.did] })
  const strict = await scene.offer(other.did, { automaticIssuance: false })
  await credentialIn(holder.call, strict.thid, 'RequestSent')
  await scene.trust({})
  const lax = await scene.offer(other.did, { automaticIssuance: false })
  await credentialIn(holder.call, lax.thid, 'RequestSent')
  await scene.trust({ trustedIssuers: [named.did] })
  await issueLater(strict)
  await issueLater(lax)
  expect((await credentialIn(holder.call, strict.thid, 'ProblemReportSent')).metaLastFailure).toMatchObject(
    refused,
  )
  await credentialIn(holder.call, lax.thid, 'CredentialReceived')
})

test('a manually accepted offer may be of any issuer', async () => {
  await using scene = await startScene()
  const { holder, named, other, subjectId } = scene
  await scene.trust({ trustedIssuers: [named.did], schemaIds: ['https://schemas.example/a'] })
  const { thid } = await scene.offer(other.did)
  const { recordId } = await credentialIn(holder.call, thid, 'OfferReceived')
  await acceptOfferWith(holder, recordId, { subjectId })
  await credentialIn(holder.call, thid, 'CredentialReceived')
})

test('an AnonCreds offer is accepted if its definition is of a listed issuer; another one needs manual acceptance', async () => {
  await using scene = await startScene()
  const { agent, issuer, holder, named, other } = scene
  await scene.trust({
    subjectId: undefined,
    credentialFormats: ['AnonCreds'],
    trustedIssuers: [named.longFormDid],
  })
  const offer = async (issuingDID: string) => {
    const { guid: credentialDefinitionId } = await publishDefinition(agent, issuer, issuingDID)
    return scene.offer(issuingDID, { credentialFormat: 'AnonCreds', credentialDefinitionId, claims })
  }
  const good = await offer(named.did)
  const bad = await offer(other.did)
  await credentialIn(holder.call, good.thid, 'CredentialReceived')
  const { recordId } = await failedIn(
    holder,
    bad.thid,
    `automatically: The offer cannot be accepted: its issuer ${other.did} is not one of the trusted issuers.`,
  )
  await acceptOfferWith(holder, recordId, {})
  await credentialIn(holder.call, bad.thid, 'CredentialReceived')
})

test('the issuer in a definition at another agent’s URL is not trusted', async () => {
  const here = await sharedAgent()
  await using there = await startAgent({ VDR_URL: here.url })
  const [issuer, holder] = [await here.newTenant('issuer'), await there.newTenant('holder')]
  const { inviterConnectionId: connectionId, inviteeConnectionId } = await connect(issuer, holder)
  const { did } = await newDid(issuer, 'assertionMethod')
  const { guid: credentialDefinitionId } = await publishDefinition(here, issuer, did)
  const automaticAcceptance = {
    credentialOffers: true,
    credentialFormats: ['AnonCreds' as const],
    trustedIssuers: [did],
  }
  const path = { connectionId: inviteeConnectionId }
  await holder.call('PATCH /connections/{connectionId}', { path, body: { automaticAcceptance } })
  const body = { connectionId, credentialFormat: 'AnonCreds' as const, credentialDefinitionId, claims }
  const { thid } = await issuer.call('POST /issue-credentials/credential-offers', { body })
  await failedIn(holder, thid, 'does not prove its issuer')
})

/** The record of an offer that could not be accepted automatically. */
async function failedIn({ call }: Tenant, thid: string, why: string) {
  const ask = async () => (await call('GET /issue-credentials/records', { query: { thid } })).contents[0]
  const record = await until('the reason in the record', ask, (each) => each?.metaLastFailure !== undefined)
  expect(record).toMatchObject({
    protocolState: 'OfferReceived',
    metaLastFailure: { detail: expect.stringContaining(why) },
  })
  return record!
}

test('the list must have at least one entry, and each must be a DID', async () => {
  const agent = await sharedAgent()
  const tenant = await agent.newTenant()
  const { did: subjectId } = await newDid(tenant, 'authentication')
  const rule = (trustedIssuers: unknown) => ({
    automaticAcceptance: { credentialOffers: true, subjectId, trustedIssuers } as never,
  })
  const { connectionId } = await tenant.call('POST /connections', { body: rule([subjectId]) })
  for (const [trustedIssuers, why] of [
    [[subjectId, 'acme'], /^automaticAcceptance\.trustedIssuers\.1: is not a DID/],
    [['https://acme.example'], /^automaticAcceptance\.trustedIssuers\.0: is not a DID/],
    [[], /^automaticAcceptance\.trustedIssuers: /],
    [subjectId, /^automaticAcceptance\.trustedIssuers: /],
  ] as const) {
    const problem = { status: 400, detail: expect.stringMatching(why) }
    const body = rule(trustedIssuers)
    expect(
      await refusal(tenant.call('PATCH /connections/{connectionId}', { path: { connectionId }, body })),
    ).toMatchObject(problem)
    expect(await refusal(tenant.call('POST /connections', { body }))).toMatchObject(problem)
  }
})

test('the rule and an acceptance under it survive kill -9', async () => {
  await using daemon = await Daemon.start()
  const [issuer, holder] = [await daemon.newTenant('acme'), await daemon.newTenant('home')]
  const [named, other] = [await newDid(issuer, 'assertionMethod'), await newDid(issuer, 'assertionMethod')]
  const { longFormDid: subjectId } = await newDid(holder, 'authentication')
  const invited = await issuer.call('POST /connections', { body: {} })
  const automaticAcceptance = { credentialOffers: true, subjectId, trustedIssuers: [named.longFormDid] }
  const { connectionId } = await holder.call('POST /connection-invitations', {
    body: { invitation: oobOf(invited), automaticAcceptance },
  })
  await connectionIn(issuer.call, invited.thid, 'ConnectionResponseSent')
  await daemon.crash()
  expect(await holder.call('GET /connections/{connectionId}', { path: { connectionId } })).toMatchObject({
    automaticAcceptance,
  })

  const offer = async ({ longFormDid: issuingDID }: typeof named) => {
    const body = { connectionId: invited.connectionId, issuingDID, claims: { a: 1 } }
    const offered = await issuer.call('POST /issue-credentials/credential-offers', { body })
    await credentialIn(issuer.call, offered.thid, 'RequestReceived')
    return offered
  }
  const [good, bad] = [await offer(named), await offer(other)]
  await daemon.crash()
  for (const { recordId } of [good, bad])
    await issuer.call('POST /issue-credentials/records/{recordId}/issue-credential', { path: { recordId } })
  await credentialIn(holder.call, good.thid, 'CredentialReceived')
  const { metaLastFailure } = await credentialIn(holder.call, bad.thid, 'ProblemReportSent')
  expect(metaLastFailure).toMatchObject(refused)
})
