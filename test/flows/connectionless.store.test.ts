/** Issuing and presenting by invitations that carry the offer or the request, without a connection. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packAuthcrypt } from '../../src/exchange/didcomm/pack.ts'
import { issueCredential } from '../../src/exchange/issuance/model.ts'
import { presentProof } from '../../src/exchange/presentation/model.ts'
import { startAgent } from '../support/agent.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  acceptOffer,
  announced,
  decode,
  encode,
  offerByInvitation,
  acceptOfferInvitation,
  acceptRequestInvitation,
} from '../support/invitation.ts'
import {
  credentialIn,
  newDid,
  oobOf,
  presentationIn,
  refusal,
  startPair,
  until,
  type Tenant,
} from '../support/tenants.ts'
import { testOnSqlite } from '../support/on-sqlite.ts'
import { recipientOf } from '../support/party.ts'
import { actOnProof, failureOf, newStranger, issueRequested, prove } from './_steps.ts'

const goals = { goalCode: 'issue-vc', goal: 'für >alle? ~' }

/** A holder's credential, issued by invitation. */
async function issueByInvitation(issuer: Tenant, holder: Tenant) {
  const offer = await offerByInvitation(issuer)
  const { recordId } = await acceptOfferInvitation(holder, oobOf(offer))
  await acceptOffer(holder, recordId)
  await credentialIn(holder.call, offer.thid, 'CredentialReceived')
  return { recordId, issuingDID: offer.issuingDID! }
}

test('two agents issue and prove without a connection, through every state of both tables', async () => {
  await using folder = await temporaryFolder()
  const VDR_URL = `sqlite:${join(folder.path, 'vdr.db')}`
  await using acme = await startAgent({ VDR_URL })
  await using home = await startAgent({ VDR_URL })
  const [issuer, holder] = [await acme.newTenant(), await home.newTenant()]

  const offer = await offerByInvitation(issuer, { automaticIssuance: false })
  expect(offer).toMatchObject({
    protocolState: 'InvitationGenerated',
    role: 'Issuer',
    thid: offer.invitation!.id,
  })
  expect(offer.thid).not.toBe(offer.recordId)
  const held = await acceptOfferInvitation(holder, offer.invitation!.invitationUrl)
  expect(held).toMatchObject({
    protocolState: 'OfferReceived',
    role: 'Holder',
    thid: offer.thid,
    claims: { name: 'Alice' },
  })
  const { shortUrl: _shortUrl, ...invitation } = offer.invitation!
  expect(held.invitation).toEqual(invitation)
  expect(held.myDid).not.toBe(offer.myDid)
  await acceptOffer(holder, held.recordId)
  await credentialIn(issuer.call, offer.thid, 'RequestReceived')
  await issueRequested(issuer, offer.recordId)
  await credentialIn(holder.call, offer.thid, 'CredentialReceived')
  await credentialIn(issuer.call, offer.thid, 'CredentialSent')

  const proofs = [] as { schemaId: string }[]
  const asked = await issuer.call('POST /present-proof/presentations/invitation', {
    body: { proofs, ...goals },
  })
  expect(asked).toMatchObject({
    status: 'InvitationGenerated',
    role: 'Verifier',
    thid: asked.invitation!.id,
    ...goals,
  })
  expect(asked).not.toHaveProperty('connectionId')
  const request = await acceptRequestInvitation(holder, asked.invitation!.invitationUrl)
  expect(request).toMatchObject({
    status: 'RequestReceived',
    role: 'Prover',
    thid: asked.thid,
    requestData: asked.requestData,
    ...goals,
  })
  await prove(holder, request.presentationId, held.recordId)
  const { data } = await presentationIn(issuer.call, asked.thid, 'PresentationVerified')
  expect(data).toHaveLength(1)
  await actOnProof(issuer, asked.presentationId, { action: 'presentation-accept' })
  await presentationIn(holder.call, asked.thid, 'PresentationSent')

  expect(await announced(acme, issuer, offer.thid)).toEqual([
    'InvitationGenerated',
    'RequestReceived',
    'CredentialPending',
    'CredentialGenerated',
    'CredentialSent',
  ])
  expect(await announced(home, holder, offer.thid)).toEqual([
    'OfferReceived',
    'RequestPending',
    'RequestSent',
    'CredentialReceived',
  ])
  expect(await announced(acme, issuer, asked.thid)).toEqual([
    'InvitationGenerated',
    'PresentationVerified',
    'PresentationAccepted',
  ])
  expect(await announced(home, holder, asked.thid)).toEqual([
    'RequestReceived',
    'PresentationPending',
    'PresentationGenerated',
    'PresentationSent',
  ])
  for (const { call } of [issuer, holder]) expect((await call('GET /connections')).contents).toEqual([])
})

testOnSqlite('an invitation with an offer has exactly the format of the Cloud Agent', async () => {
  await using pair = await startPair()
  const before = Math.floor(Date.now() / 1_000)
  const offer = await offerByInvitation(pair.issuer, goals)
  const { myDid: from, thid: id, invitation } = offer
  expect(offer).toMatchObject({
    ...goals,
    invitation: { id, type: 'https://didcomm.org/out-of-band/2.0/invitation', from },
  })
  expect(invitation!.invitationUrl).toMatch(/^https:\/\/my\.domain\.com\/path\?_oob=[A-Za-z0-9]+={0,2}$/)
  const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  const decoded = decode(offer)
  const options = { challenge: uuid, domain: 'default-domain' }
  const presentation_definition = { id: uuid, input_descriptors: [], format: { jwt: { alg: ['ES256K'] } } }
  expect(decoded).toEqual({
    id,
    type: 'https://didcomm.org/out-of-band/2.0/invitation',
    from,
    body: { goal_code: goals.goalCode, goal: goals.goal, accept: ['didcomm/v2'] },
    created_time: expect.any(Number),
    expires_time: decoded.created_time + 300,
    attachments: [
      {
        id: uuid,
        media_type: 'application/json',
        data: {
          json: {
            id: uuid,
            type: issueCredential.messages.offer,
            body: {
              goal_code: 'Offer Credential',
              credential_preview: {
                type: 'https://didcomm.org/issue-credential/3.0/credential-credential',
                body: { attributes: [{ name: 'name', value: 'Alice' }] },
              },
            },
            attachments: [
              {
                id: uuid,
                media_type: 'application/json',
                format: 'prism/jwt',
                data: { json: { options, presentation_definition } },
              },
            ],
            thid: id,
            from,
          },
        },
      },
    ],
  })
  expect(decoded.attachments[0].data.json.id).not.toBe(id)
  expect(decoded.created_time).toBeGreaterThanOrEqual(before)
  const asked = decode(await pair.issuer.call('POST /present-proof/presentations/invitation', { body: {} }))
  expect(asked.body).toEqual({ accept: ['didcomm/v2'] })
  expect(asked.attachments[0]).toMatchObject({
    media_type: 'application/json',
    data: {
      json: {
        type: presentProof.messages.request,
        thid: asked.id,
        from: asked.from,
        body: { goal_code: 'Request Proof Presentation', will_confirm: false, proof_types: [] },
        attachments: [
          {
            media_type: 'application/json',
            format: 'prism/jwt',
            data: { json: { options: expect.any(Object) } },
          },
        ],
      },
    },
  })
})

test('several agents answer an invitation at once: exactly one gets the credential, and the others get a report', async () => {
  await using pair = await startPair()
  const { agent, issuer } = pair
  const offer = await offerByInvitation(issuer)
  const holders = await Promise.all(Array.from({ length: 6 }, () => agent.newTenant()))
  const records = await Promise.all(holders.map((holder) => acceptOfferInvitation(holder, oobOf(offer))))
  await Promise.all(holders.map((holder, index) => acceptOffer(holder, records[index]!.recordId)))
  await credentialIn(issuer.call, offer.thid, 'CredentialSent')
  const ends = await Promise.all(
    holders.map(({ call }, index) =>
      until(
        'the end of the flow',
        () =>
          call('GET /issue-credentials/records/{recordId}', { path: { recordId: records[index]!.recordId } }),
        ({ protocolState, metaLastFailure }) =>
          protocolState === 'CredentialReceived' || metaLastFailure !== undefined,
      ),
    ),
  )
  expect(ends.filter(({ credential }) => credential !== undefined)).toHaveLength(1)
  expect((await announced(agent, issuer, offer.thid)).length).toBe(5)
})

test('a second answer is refused, and the flow of the first one continues', async () => {
  await using pair = await startPair()
  const { agent, issuer, holder } = pair
  const { recordId: credentialId } = await issueByInvitation(issuer, holder)
  const second = await agent.newTenant()
  const { recordId: otherId } = await issueByInvitation(issuer, second)
  const asked = await issuer.call('POST /present-proof/presentations/invitation', { body: {} })
  const [first, late] = [
    await acceptRequestInvitation(holder, oobOf(asked)),
    await acceptRequestInvitation(second, oobOf(asked)),
  ]
  await prove(holder, first.presentationId, credentialId)
  const { data } = await presentationIn(issuer.call, asked.thid, 'PresentationVerified')
  await prove(second, late.presentationId, otherId)
  await until(
    'the refusal',
    () =>
      second.call('GET /present-proof/presentations/{presentationId}', {
        path: { presentationId: late.presentationId },
      }),
    ({ metaLastFailure }) => metaLastFailure !== undefined,
  )
  const accepted = await actOnProof(issuer, asked.presentationId, { action: 'presentation-accept' })
  expect(accepted).toMatchObject({ status: 'PresentationAccepted', data })
})

testOnSqlite('an invalid presentation ends the request and is reported to the prover', async () => {
  await using pair = await startPair()
  const { issuer, holder } = pair
  const { recordId } = await issueByInvitation(issuer, holder)
  const { did: another } = await newDid(issuer, 'assertionMethod')
  const proofs = [{ schemaId: 'https://example.com/person', trustIssuers: [another] }]
  const asked = await issuer.call('POST /present-proof/presentations/invitation', { body: { proofs } })
  const { presentationId } = await acceptRequestInvitation(holder, oobOf(asked))
  await prove(holder, presentationId, recordId)
  await presentationIn(issuer.call, asked.thid, 'PresentationVerificationFailed')
  await presentationIn(holder.call, asked.thid, 'ProblemReportReceived')
})

testOnSqlite('an answer to an expired invitation is refused, and the record has the reason', async () => {
  await using pair = await startPair({ ISSUANCE_INVITATION_EXPIRY: '0', PRESENTATION_INVITATION_EXPIRY: '0' })
  const { agent, issuer, holder } = pair
  const offer = await offerByInvitation(issuer)
  const asked = await issuer.call('POST /present-proof/presentations/invitation', { body: {} })
  for (const [take, invitation, type] of [
    [acceptOfferInvitation, offer, 'error:CredentialServiceError:InvitationExpired'],
    [acceptRequestInvitation, asked, 'error:PresentationError:InvitationExpired'],
  ] as const) {
    expect(await refusal(take(holder, oobOf(invitation)) as Promise<unknown>)).toMatchObject({
      status: 400,
      type,
    })
  }
  for (const key of ['GET /issue-credentials/records', 'GET /present-proof/presentations'] as const) {
    expect((await holder.call(key)).contents).toEqual([])
  }

  // The issuer also refuses a request from a holder that ignores the expiry.
  const timeless = (record: object) => encode({ ...decode(record), expires_time: undefined })
  const { recordId } = await acceptOfferInvitation(holder, timeless(offer))
  await acceptOffer(holder, recordId)
  await credentialIn(issuer.call, offer.thid, 'InvitationExpired')
  const { metaLastFailure } = await failureOf(holder, recordId)
  expect(JSON.stringify(metaLastFailure)).toMatch(/400|expired/)
  const again = stranger()
  const message = { type: issueCredential.messages.request, thid: offer.thid, body: {}, attachments: [] }
  expect(await again.send(agent.didcommUrl, offer.myDid!, message)).toMatchObject({
    status: 400,
    type: expect.stringContaining('Expired'),
  })

  const presentation = {
    type: presentProof.messages.presentation,
    thid: asked.thid,
    body: {},
    attachments: [],
  }
  expect((await again.send(agent.didcommUrl, asked.myDid!, presentation)).status).toBe(400)
  await presentationIn(issuer.call, asked.thid, 'InvitationExpired')
  expect(await announced(agent, issuer, asked.thid)).toEqual(['InvitationGenerated', 'InvitationExpired'])
})

testOnSqlite('an unanswered invitation accepts only an answer, an answered one only its sender', async () => {
  await using pair = await startPair()
  const { agent, issuer, holder } = pair
  const open = await offerByInvitation(issuer, { automaticIssuance: false })
  const offer = await offerByInvitation(issuer, { automaticIssuance: false })
  const held = await acceptOfferInvitation(holder, oobOf(offer))
  await acceptOffer(holder, held.recordId)
  await credentialIn(issuer.call, offer.thid, 'RequestReceived')
  await credentialIn(holder.call, offer.thid, 'RequestSent')
  const { recordId } = await issueByInvitation(issuer, holder)
  const asked = await issuer.call('POST /present-proof/presentations/invitation', { body: {} })
  const { presentationId, myDid: proverDid } = await acceptRequestInvitation(holder, oobOf(asked))
  await prove(holder, presentationId, recordId)
  await presentationIn(issuer.call, asked.thid, 'PresentationVerified')
  await presentationIn(holder.call, asked.thid, 'PresentationSent')

  const picture = async () =>
    JSON.stringify(
      await Promise.all(
        [issuer, holder].flatMap(({ call }) => [
          call('GET /issue-credentials/records'),
          call('GET /present-proof/presentations'),
          call('GET /connections'),
        ]),
      ),
    )
  const before = await picture()
  const mallory = stranger()
  const connecting = ['request', 'response'].map(
    (name) => `https://atalaprism.io/mercury/connections/1.0/${name}`,
  )
  const types = [
    ...Object.values(issueCredential.messages),
    ...Object.values(presentProof.messages),
    ...connecting,
  ]
  for (const type of types) {
    for (const victim of [offer.myDid!, held.myDid!, asked.myDid!, proverDid!, open.myDid!]) {
      for (const thid of [offer.thid, asked.thid, open.thid, randomUUID()]) {
        const { status } = await mallory.send(agent.didcommUrl, victim, {
          type,
          thid,
          body: {},
          attachments: [],
        })
        expect([type, status >= 400 && status < 500]).toEqual([type, true])
      }
    }
  }
  expect(await picture()).toBe(before)
})

/** Sends messages of a DID that the agents do not know to an endpoint. */
function stranger() {
  const { did, sender } = newStranger()
  return {
    async send(url: string, to: string, message: object): Promise<{ status: number; type: string }> {
      const plaintext = { id: randomUUID(), from: did, to: [to], ...message }
      const body = packAuthcrypt(plaintext as never, { sender, recipients: [recipientOf(to)] })
      const headers = { 'content-type': 'application/didcomm-encrypted+json' }
      const response = await fetch(url, { method: 'POST', headers, body })
      const text = await response.text()
      return { status: response.status, type: text === '' ? '' : (JSON.parse(text) as { type: string }).type }
    },
  }
}
