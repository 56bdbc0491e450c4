/** Trusted issuers of AnonCreds, and over a crash of the daemon. */
import { expect, test } from 'vitest'
import { sharedAgent, startAgent } from '../support/agent.ts'
import { Daemon } from '../support/daemon.ts'
import { claims, publishDefinition } from '../credentials/anoncreds/_definition.ts'
import { connect, connectionIn, credentialIn, newDid, oobOf } from '../support/tenants.ts'
import { acceptOfferWith } from './_steps.ts'
import { failedIn, refused, startScene } from './_trusted-issuers.ts'

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
