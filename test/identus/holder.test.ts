/**
 * The stock Identus SDK as holder, over plain HTTP, against this agent. `_holder.ts` documents the parts that
 * are not of the SDK. Known limitations of SDK 7.0.0: its resolver of published did:prism accepts any media
 * type but reads bare documents only (`_holder.ts` adds a second resolver), and logs "Failed resolving did"
 * before it uses the next one. It reads an `_oob` in the standard base64 alphabet only. Its credential
 * requests lack `verifiableCredential`, and `aud` is a list.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startAgent } from '../support/agent.ts'
import { wholeStory } from '../support/main-flow.ts'
import {
  connectionIn,
  credentialIn,
  newDid,
  presentationIn,
  publishSchema,
  type Tenant,
} from '../support/tenants.ts'
import { Webhook } from '../support/webhook.ts'
import { startHolder, type Answer, type Holder } from './_holder.ts'
import { didcomm, sdk } from './_sdk.ts'
import { answerOffer, answerRequest, ask, connect, issue, keepCredential } from './_steps.ts'
import { untilEnd } from '../support/shared.ts'

const { ProtocolType } = sdk

const webhook = await untilEnd(Webhook.open())
const agent = await untilEnd(startAgent({ GLOBAL_WEBHOOK_URL: webhook.url }))
beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => undefined))
afterEach(() => void vi.restoreAllMocks())

/** An empty wallet. */
const newHolder = (answer?: Answer) => startHolder(`${agent.url}/dids/`, answer)

const claims = { familyName: 'Ärger', age: 42, address: { city: 'Zürich' }, '~>?': ['ÿ', null] }

/** The issuer accepts a proof. Returns after the final states were announced. */
async function accept({ call, walletId }: Tenant, presentationId: string) {
  await call('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId },
    body: { action: 'presentation-accept' },
  })
  for (const state of ['CredentialSent', 'PresentationAccepted']) {
    await webhook.waitFor(
      state,
      (event) => event.walletId === walletId && [event.data.status, event.data.protocolState].includes(state),
    )
  }
}

/** The events of the issuer's records: event type → states in order of arrival. */
function announcedBy({ walletId }: Tenant): Record<string, unknown[]> {
  const states: Record<string, unknown[]> = {}
  for (const { type, data, ...event } of webhook.events) {
    if (event.walletId === walletId)
      (states[type] ??= []).push(data.state ?? data.protocolState ?? data.status)
  }
  return states
}

/** The states of an issuer, independent of the holder. */
const issuerStates = Object.fromEntries(
  Object.entries(wholeStory).flatMap(([key, states]) =>
    key.startsWith('issuer ') ? [[key.slice('issuer '.length), states]] : [],
  ),
)

describe.each(['secp256k1', 'Ed25519'] as const)(
  'a wallet of the stock SDK, and an issuer with a key on %s',
  (curve) => {
    let holder: Holder
    let issuer: Tenant
    let did: string
    let schemaId: string
    let connection: Awaited<ReturnType<typeof connect>>
    let issued: Awaited<ReturnType<typeof issue>>
    let proof: Awaited<ReturnType<typeof ask>>
    let states: ReturnType<typeof announcedBy>
    const connections = vi.fn()

    beforeAll(async () => {
      issuer = await agent.newTenant('issuer')
      holder = await newHolder()
      holder.agent.addListener(sdk.ListenerKey.CONNECTION, connections)
      did = (await newDid(issuer, 'assertionMethod', curve)).did
      schemaId = await publishSchema(issuer, did, {
        properties: { familyName: { type: 'string' }, age: { type: 'integer' } },
        required: ['familyName', 'age'],
      })
      connection = await connect(holder, issuer)
      const { connectionId } = connection
      issued = await issue(holder, issuer, {
        connectionId,
        issuingDID: did,
        schemaId,
        claims,
        validityPeriod: 3_600,
      })
      proof = await ask(issuer, connectionId, [{ schemaId, trustIssuers: [did] }])
      await answerRequest(
        holder.agent,
        await holder.next(ProtocolType.DidcommRequestPresentation),
        issued.credential,
      )
      await presentationIn(issuer.call, proof.thid, 'PresentationVerified')
      await accept(issuer, proof.presentationId)
      states = announcedBy(issuer)
    })
    afterAll(() => holder[Symbol.asyncDispose]())

    test('pass through every state of the issuer once, in order', () => {
      expect(states).toEqual(issuerStates)
    })

    test('are connected, according to the wallet', async () => {
      const { thid, response } = connection
      expect(response).toMatchObject({ thid, pthid: thid })
      expect(connections).toHaveBeenCalledOnce()
      expect(await holder.agent.pluto.getAllDidPairs()).toMatchObject([
        { host: { uuid: response.to!.uuid }, receiver: { uuid: response.from!.uuid }, name: 'issuer' },
      ])
    })

    test('have the same credential', async () => {
      const [stored, ...others] = await holder.agent.verifiableCredentials()
      expect(others).toEqual([])
      expect(stored).toMatchObject({ id: issued.credential.id, issuer: did, credentialType: 'prism/jwt' })
      expect(stored!.claims).toEqual([{ ...claims, id: stored!.subject }])
      expect(stored!.properties.get('exp')).toBe(stored!.properties.get('nbf') + 3_600)
      expect(stored!.subject).toMatch(/^did:prism:[0-9a-f]{64}:/)
      const record = await credentialIn(issuer.call, issued.thid, 'CredentialSent')
      expect(Buffer.from(record.credential!, 'base64url').toString()).toBe(stored!.id)
    })

    test('agree on the proof, which contains that credential and answers that request', async () => {
      const { data } = await presentationIn(issuer.call, proof.thid, 'PresentationAccepted')
      const payload = JSON.parse(Buffer.from(data[0]!.split('.')[1]!, 'base64url').toString()) as Record<
        string,
        unknown
      >
      expect(payload).toMatchObject({
        iss: issued.credential.subject,
        vp: { verifiableCredential: [issued.credential.id] },
      })
    })

    test('agree that the credential is valid, and a forged one is not', async () => {
      const { credential } = issued
      const [header, payload, signature] = credential.id.split('.') as [string, string, string]
      const changed = { ...(JSON.parse(Buffer.from(payload, 'base64url').toString()) as object), nbf: 0 }
      const forged = `${header}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${signature}`
      const other = await newDid(issuer, 'assertionMethod', curve)
      expect(await holder.verifies(credential.id, did)).toBe(true)
      expect(await holder.verifies(forged, did)).toBe(false)
      expect(await holder.verifies(credential.id, other.did)).toBe(false)
    })

    test('a proof with a credential of an untrusted issuer is refused, and the wallet gets the reason', async () => {
      const trusted = await newDid(await agent.newTenant('other'), 'assertionMethod', curve)
      const { thid } = await ask(issuer, connection.connectionId, [{ schemaId, trustIssuers: [trusted.did] }])
      await answerRequest(
        holder.agent,
        await holder.next(ProtocolType.DidcommRequestPresentation),
        issued.credential,
      )
      await presentationIn(issuer.call, thid, 'PresentationVerificationFailed')
      expect(await holder.next(ProtocolType.ProblemReporting)).toMatchObject({
        pthid: thid,
        body: { code: 'e.p.presentation-verification-failed', comment: expect.any(String) },
      })
    })
  },
)

test('a wallet that answers before the POST returns has the same result', async () => {
  await using holder = await newHolder(async (message, agent) => {
    if (message.piuri === ProtocolType.DidcommOfferCredential) await answerOffer(agent, message)
    if (message.piuri === ProtocolType.DidcommIssueCredential) await keepCredential(agent, message)
    const [credential] = await agent.verifiableCredentials()
    if (message.piuri === ProtocolType.DidcommRequestPresentation)
      await answerRequest(agent, message, credential!)
  })
  const issuer = await agent.newTenant('issuer')
  const { did: issuingDID } = await newDid(issuer, 'assertionMethod')
  const { connectionId } = await connect(holder, issuer)
  const body = { connectionId, issuingDID, claims, automaticIssuance: true }
  const { thid } = await issuer.call('POST /issue-credentials/credential-offers', { body })
  await credentialIn(issuer.call, thid, 'CredentialSent')
  const proof = await ask(issuer, connectionId)
  await presentationIn(issuer.call, proof.thid, 'PresentationVerified')
  await accept(issuer, proof.presentationId)
  expect(announcedBy(issuer)).toEqual(issuerStates)
})

test('a wallet reads invitations with any characters, and connects once with each', async () => {
  await using holder = await newHolder()
  const issuer = await agent.newTenant('issuer')
  for (const goal of ['~>?~>?~>?', 'Für Ägypten 🏛 ÿÿÿ', '\u007f"\\/\u2028']) {
    const { parsed, connectionId } = await connect(holder, issuer, { goal, goalCode: 'issue-vc?' })
    expect(parsed).toMatchObject({ body: { goal, goal_code: 'issue-vc?', accept: [] } })
    const refusal = await holder.agent
      .acceptInvitation(parsed)
      .then(String, ({ status }: { status: number }) => status)
    expect([400, 422]).toContain(refusal)
    const { state } = await issuer.call('GET /connections/{connectionId}', { path: { connectionId } })
    expect(state).toBe('ConnectionResponseSent')
  }
})

test('a wallet and an issuer exchange messages, and a declined offer is recorded as declined', async () => {
  await using holder = await newHolder()
  const issuer = await agent.newTenant('issuer')
  const { did: issuingDID } = await newDid(issuer, 'assertionMethod')
  const { connectionId, response } = await connect(holder, issuer)
  const [me, them] = [response.to!, response.from!]
  await issuer.call('POST /messages', { body: { connectionId, content: 'Für Dich 🏛' } })
  expect(await holder.next(ProtocolType.DidcommBasicMessage)).toMatchObject({
    body: { content: 'Für Dich 🏛' },
  })
  await holder.agent.sendMessage(new sdk.BasicMessage({ content: 'Nein, danke' }, me, them).makeMessage())
  const { contents } = await issuer.call('GET /messages', { query: { connectionId } })
  expect(contents).toMatchObject([
    { direction: 'sent', content: 'Für Dich 🏛' },
    { direction: 'received', content: 'Nein, danke' },
  ])
  const { thid } = await issuer.call('POST /issue-credentials/credential-offers', {
    body: { connectionId, issuingDID, claims },
  })
  const offer = await holder.next(ProtocolType.DidcommOfferCredential)
  const report = new didcomm.ProblemReport(
    { code: 'e.p.msg.declined', comment: 'Not {1}.', args: ['today'] },
    me,
    them,
    offer.thid,
  )
  await holder.agent.sendMessage(report.makeMessage())
  const { metaLastFailure } = await credentialIn(issuer.call, thid, 'ProblemReportReceived')
  expect(metaLastFailure).toMatchObject({ type: 'e.p.msg.declined', detail: 'Not today.' })
})

/** The wallet parses an invitation and returns the message in it. */
async function open(
  { agent, next }: Holder,
  { invitation }: { invitation?: { invitationUrl: string } | undefined },
  type: string,
) {
  const parsed = await agent.parseInvitation(invitation!.invitationUrl)
  await agent.acceptInvitation(parsed)
  return next(type)
}

test('a wallet gets a credential by one invitation, and presents it by another, without a connection', async () => {
  await using holder = await newHolder()
  const issuer = await agent.newTenant('issuer')
  const { did: issuingDID } = await newDid(issuer, 'assertionMethod')
  const offer = await issuer.call('POST /issue-credentials/credential-offers/invitation', {
    body: { issuingDID, claims, automaticIssuance: true, goalCode: 'issue-vc', goal: 'Für Dich' },
  })
  const offered = await open(holder, offer, ProtocolType.DidcommOfferCredential)
  expect(offered).toMatchObject({ thid: offer.thid, from: { uuid: offer.invitation!.from } })
  await answerOffer(holder.agent, offered)
  const credential = await keepCredential(
    holder.agent,
    await holder.next(ProtocolType.DidcommIssueCredential),
  )
  expect(credential.claims).toEqual([{ ...claims, id: credential.subject }])
  expect(await holder.verifies(credential.id, issuingDID)).toBe(true)
  await credentialIn(issuer.call, offer.thid, 'CredentialSent')

  const options = { challenge: 'of this test', domain: 'https://verifier.example' }
  const proof = await issuer.call('POST /present-proof/presentations/invitation', {
    body: { options, proofs: [], goalCode: 'prove', goal: 'Für mich' },
  })
  const request = await open(holder, proof, ProtocolType.DidcommRequestPresentation)
  expect(request).toMatchObject({ thid: proof.thid, from: { uuid: proof.invitation!.from } })
  await answerRequest(holder.agent, request, credential)
  const { data } = await presentationIn(issuer.call, proof.thid, 'PresentationVerified')
  expect(data).toEqual([expect.stringMatching(/^ey/)])
  expect((await issuer.call('GET /connections', {})).contents).toEqual([])
})

/** Retrieves the invitation of a short URL, as the base64 that the SDK parses. */
async function retrieve({ shortUrl }: { shortUrl?: string | undefined }): Promise<string> {
  const response = await fetch(shortUrl!, { headers: { accept: 'application/json' } })
  expect(response.status).toBe(200)
  return Buffer.from(await response.text()).toString('base64')
}

test('a wallet accepts what the short URLs of invitations return', async () => {
  await using holder = await newHolder()
  const issuer = await agent.newTenant('issuer')
  const accept = async (invitation: { shortUrl?: string | undefined }) =>
    holder.agent.acceptInvitation(await holder.agent.parseInvitation(await retrieve(invitation)), 'issuer')

  const { thid, invitation } = await issuer.call('POST /connections', { body: { goal: 'Für Dich' } })
  await accept(invitation)
  await holder.next(ProtocolType.DidcommConnectionResponse)
  await connectionIn(issuer.call, thid, 'ConnectionResponseSent')

  const { did: issuingDID } = await newDid(issuer, 'assertionMethod')
  const offer = await issuer.call('POST /issue-credentials/credential-offers/invitation', {
    body: { issuingDID, claims },
  })
  await accept(offer.invitation!)
  expect(await holder.next(ProtocolType.DidcommOfferCredential)).toMatchObject({ thid: offer.thid })

  const request = await issuer.call('POST /present-proof/presentations/invitation', { body: { proofs: [] } })
  await accept(request.invitation!)
  expect(await holder.next(ProtocolType.DidcommRequestPresentation)).toMatchObject({ thid: request.thid })
})
