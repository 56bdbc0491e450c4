/** Automatically accepted offers with a list of accepted issuers. */
import { expect, test } from 'vitest'
import { sharedAgent } from '../support/agent.ts'
import { credentialIn, newDid, refusal, type Tenant } from '../support/tenants.ts'
import { acceptOfferWith, issueRequested } from './_steps.ts'
import { refused, startScene } from './_trusted-issuers.ts'

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
