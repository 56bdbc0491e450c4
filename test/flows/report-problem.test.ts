/** Problem reports: sent for refused messages, and stored with the record that they refer to. */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { base64Attachment, jsonAttachment } from '../../src/exchange/didcomm/message.ts'
import { connectionIn, credentialIn, newDid, presentationIn, until } from '../support/tenants.ts'
import { openParty, type Message } from '../support/party.ts'
import { acceptOfferWith, prove, startWithParty } from './_steps.ts'

const report = 'https://didcomm.org/report-problem/2.0/problem-report'
const [offer, request, credential] = ['offer-credential', 'request-credential', 'issue-credential'].map(
  (name) => `https://didcomm.org/issue-credential/3.0/${name}`,
) as [string, string, string]
const atala = 'https://didcomm.atalaprism.io/present-proof/3.0'
const didcommOrg = 'https://didcomm.org/present-proof/3.0'

const challenge = {
  options: { challenge: 'c', domain: 'd' },
  presentation_definition: { id: '1', input_descriptors: [] },
}
const offered = {
  body: { credential_preview: { body: { attributes: [{ name: 'a', value: 'b' }] } } },
  attachments: [jsonAttachment('1', challenge, 'prism/jwt')],
}
const token = (text: string) => [base64Attachment('1', text, 'prism/jwt')]

/** A tenant with a connection to a test party, which can be issuer, holder, verifier or prover. */
async function startScene() {
  const scene = await startWithParty()
  const { agent, tenant, call, party, connectionId } = scene
  return {
    ...scene,
    /** The tenant offers a credential. Returns the thread. */
    async offer() {
      const { did: issuingDID } = await newDid(tenant, 'assertionMethod')
      const body = { connectionId, issuingDID, claims: { a: 1 } }
      const { thid } = await call('POST /issue-credentials/credential-offers', { body })
      await credentialIn(call, thid, 'OfferSent')
      return thid
    },
    /** The tenant requests the credential that the party has offered. Returns the thread. */
    async request() {
      const thid = randomUUID()
      expect((await scene.say({ type: offer, thid, ...offered })).status).toBe(200)
      const { recordId } = await credentialIn(call, thid, 'OfferReceived')
      const { did: subjectId } = await newDid(tenant, 'authentication')
      await acceptOfferWith(tenant, recordId, { subjectId })
      await credentialIn(call, thid, 'RequestSent')
      return thid
    },
    /** The tenant requests a presentation. Returns the thread. */
    async ask() {
      const { thid } = await call('POST /present-proof/presentations', { body: { connectionId } })
      await presentationIn(call, thid, 'RequestSent')
      return thid
    },
    /** Pings the tenant: when the answer arrives, all earlier messages have been sent. */
    async answerPing() {
      await scene.say({ type: 'https://didcomm.org/trust-ping/2.0/ping' })
      await party.next('https://didcomm.org/trust-ping/2.0/ping-response')
    },
    events: () =>
      agent.agent.wallets.use(tenant.walletId, ({ db }) =>
        db.selectFrom('event').select(['type', 'subject', 'data']).orderBy('sequence').execute(),
      ),
  }
}
type Scene = Awaited<ReturnType<typeof startScene>>

describe('an invalid message is reported to its sender', () => {
  const cases: [string, string, (scene: Scene) => Promise<Message>][] = [
    [
      'an offer without claims',
      'e.p.msg.offer-refused',
      async () => ({ type: offer, thid: randomUUID(), body: {} }),
    ],
    [
      'an offer without a challenge',
      'e.p.msg.offer-refused',
      async () => ({ type: offer, body: offered.body }),
    ],
    [
      'a request with an invalid proof',
      'e.p.trust.request-refused',
      async (scene) => ({ type: request, thid: await scene.offer(), attachments: token('x.y.z') }),
    ],
    [
      'a request without a proof',
      'e.p.trust.request-refused',
      async (scene) => ({ type: request, thid: await scene.offer() }),
    ],
    [
      'an unsigned credential',
      'e.p.trust.credential-refused',
      async (scene) => ({ type: credential, thid: await scene.request(), attachments: token('x.y.z') }),
    ],
    [
      'a malformed credential',
      'e.p.trust.credential-refused',
      async (scene) => ({ type: credential, thid: await scene.request() }),
    ],
    [
      'a malformed presentation request',
      'e.p.msg.request-refused',
      async () => ({ type: `${atala}/request-presentation`, thid: randomUUID() }),
    ],
    [
      'a malformed presentation',
      'e.p.msg.presentation-unreadable',
      async (scene) => ({ type: `${atala}/presentation`, thid: await scene.ask() }),
    ],
  ]

  test.each(cases)('%s: %s, once, and no state changes', async (_name, code, make) => {
    await using scene = await startScene()
    const { party, say } = scene
    const message = { id: randomUUID(), ...(await make(scene)) }
    const before = await scene.events()
    const refused = await say(message)
    expect(refused.status).toBe(400)
    const reported = await party.next(report)
    expect(reported).toMatchObject({
      from: scene.theirDid,
      pthid: message.thid ?? message.id,
      body: { code, comment: refused.detail },
    })
    expect(reported.thid).toBeUndefined()
    expect((await say(message)).status).toBe(200)
    await scene.answerPing()
    expect(party.inbox.filter(({ message: { type } }) => type === report)).toHaveLength(1)
    expect(await scene.events()).toEqual(before)
  })

  test('a malformed report, or one about an unknown thread, is not answered with a report', async () => {
    await using scene = await startScene()
    const { party, say } = scene
    for (const body of [
      {},
      { code: 7 },
      { code: '' },
      { code: 'e'.repeat(201) },
      { code: 'e.p.msg', comment: 'no' },
    ]) {
      expect((await say({ type: report, pthid: randomUUID(), body })).status).toBe(200)
      expect((await say({ type: report, body })).status).toBe(200)
    }
    await scene.answerPing()
    expect(party.inbox.map(({ message: { type } }) => type)).not.toContain(report)
  })

  test('a second offer in a thread is refused and not reported, so that it does not harm the first', async () => {
    await using scene = await startScene()
    const thid = randomUUID()
    expect((await scene.say({ type: offer, thid, ...offered })).status).toBe(200)
    expect((await scene.say({ type: offer, thid, ...offered })).status).toBe(400)
    await scene.answerPing()
    expect(scene.party.inbox.map(({ message: { type } }) => type)).not.toContain(report)
  })

  test('an unauthenticated sender gets only a status', async () => {
    await using scene = await startScene()
    await using stranger = await openParty()
    const thid = await scene.offer()
    for (const seal of ['anoncrypt', 'forged authcrypt'] as const) {
      expect(
        (await stranger.send(scene.theirDid, { type: request, thid, from: scene.party.did }, seal)).status,
      ).toBe(422)
    }
    expect((await stranger.send(scene.theirDid, { type: request, thid })).status).toBeGreaterThanOrEqual(400)
    await scene.answerPing()
    expect([
      stranger.envelopes,
      scene.party.inbox.filter(({ message: { type } }) => type === report),
    ]).toEqual([[], []])
  })
})

describe('a report changes the record that it refers to', () => {
  const body = { code: 'e.p.req.{x}', comment: 'I do not want {1}', args: ['this'] }
  const metaLastFailure = {
    status: 400,
    type: body.code,
    title: 'Problem report',
    detail: 'I do not want this',
  }

  test('an offer', async () => {
    await using scene = await startScene()
    const thid = await scene.offer()
    expect((await scene.say({ type: report, pthid: thid, body })).status).toBe(200)
    expect((await credentialIn(scene.call, thid, 'ProblemReportReceived')).metaLastFailure).toEqual(
      metaLastFailure,
    )
    const states = (await scene.events())
      .filter(({ subject }) => subject === thid)
      .map(({ data }) => JSON.parse(data).protocolState)
    expect(states).toEqual(['OfferPending', 'OfferSent', 'ProblemReportReceived'])
    expect((await scene.say({ type: request, thid, attachments: token('x.y.z') })).status).toBe(400)
  })

  test('a refused request for a credential', async () => {
    await using scene = await startScene()
    const thid = await scene.request()
    await scene.say({ type: report, pthid: thid, body })
    expect((await credentialIn(scene.call, thid, 'ProblemReportReceived')).metaLastFailure).toEqual(
      metaLastFailure,
    )
  })

  test('an offer or a presentation request that the sender withdraws before the answer', async () => {
    await using scene = await startScene()
    const { say, call } = scene
    const [first, second] = [randomUUID(), randomUUID()]
    await say({ type: offer, thid: first, ...offered })
    await say({
      type: `${atala}/request-presentation`,
      thid: second,
      body: {},
      attachments: [jsonAttachment('1', challenge, 'prism/jwt')],
    })
    await presentationIn(call, second, 'RequestReceived')
    for (const thid of [first, second])
      expect((await say({ type: report, pthid: thid, body })).status).toBe(200)
    expect((await credentialIn(call, first, 'ProblemReportReceived')).metaLastFailure).toEqual(
      metaLastFailure,
    )
    expect((await presentationIn(call, second, 'ProblemReportReceived')).metaLastFailure).toEqual(
      metaLastFailure,
    )
  })

  test('a presentation request', async () => {
    await using scene = await startScene()
    const thid = await scene.ask()
    // Some agents write the thread into `thid` instead of `pthid`.
    await scene.say({ type: report, thid, body })
    expect((await presentationIn(scene.call, thid, 'ProblemReportReceived')).metaLastFailure).toEqual(
      metaLastFailure,
    )
  })

  test('a connection', async () => {
    await using scene = await startScene()
    await scene.say({ type: report, pthid: scene.thid, body })
    expect((await connectionIn(scene.call, scene.thid, 'ProblemReportReceived')).metaLastFailure).toEqual(
      metaLastFailure,
    )
  })

  test('a warning, a report for a finished record and one from another sender change nothing', async () => {
    await using scene = await startScene()
    const { say, call } = scene
    await using other = await openParty()
    const elsewhere = await other.connect(scene.tenant)
    const thid = await scene.offer()
    await say({ type: offer, thid: 'received', ...offered })
    const { recordId } = await credentialIn(call, 'received', 'OfferReceived')
    await call('POST /issue-credentials/records/{recordId}/reject-offer', { path: { recordId } })
    await credentialIn(call, 'received', 'ProblemReportSent')
    const before = await scene.events()
    expect((await say({ type: report, pthid: thid, body: { ...body, code: 'w.p.req.time' } })).status).toBe(
      200,
    )
    expect((await say({ type: report, pthid: 'received', body })).status).toBe(200)
    expect((await say({ type: report, pthid: elsewhere.thid, body })).status).toBe(200)
    expect((await other.send(elsewhere.theirDid, { type: report, pthid: thid, body })).status).toBe(200)
    expect((await other.send(scene.theirDid, { type: report, pthid: thid, body })).status).toBe(422)
    expect(await scene.events()).toEqual(before)
    expect((await say({ type: report, pthid: thid, body })).status).toBe(200)
    expect(await scene.events()).toHaveLength(before.length + 1)
    expect((await say({ type: report, pthid: thid, body })).status).toBe(200)
    expect(await scene.events()).toHaveLength(before.length + 1)
  })
})

describe('present-proof in the namespace of the specification', () => {
  test('a request in either namespace is accepted, and answered in the same one', async () => {
    await using scene = await startScene()
    const { call, say, party, tenant } = scene
    const { did: issuingDID } = await newDid(tenant, 'assertionMethod')
    const { longFormDid } = await newDid(tenant, 'authentication')
    // The tenant connects with itself to get a credential.
    const made = await call('POST /connections', { body: {} })
    await call('POST /connection-invitations', { body: { invitation: made.invitation.invitationUrl } })
    const connectionId = (await connectionIn(call, made.thid, 'ConnectionResponseSent')).connectionId
    const offerMade = await call('POST /issue-credentials/credential-offers', {
      body: { connectionId, issuingDID, claims: { a: 1 }, automaticIssuance: true },
    })
    const { recordId } = await credentialIn(call, offerMade.thid, 'OfferReceived')
    await acceptOfferWith(tenant, recordId, { subjectId: longFormDid })
    await credentialIn(call, offerMade.thid, 'CredentialReceived')

    for (const namespace of [didcommOrg, atala]) {
      const thid = randomUUID()
      await say({
        type: `${namespace}/request-presentation`,
        thid,
        body: {},
        attachments: [jsonAttachment('1', challenge, 'prism/jwt')],
      })
      const { presentationId } = await presentationIn(call, thid, 'RequestReceived')
      await prove(tenant, presentationId, recordId)
      expect((await party.next(`${namespace}/presentation`)).thid).toBe(thid)
      await presentationIn(call, thid, 'PresentationSent')
    }
  })

  test('a presentation is verified like any other', async () => {
    await using scene = await startScene()
    const thid = await scene.ask()
    expect(
      (await scene.say({ type: `${didcommOrg}/presentation`, thid, attachments: token('x.y.z') })).status,
    ).toBe(200)
    await presentationIn(scene.call, thid, 'PresentationVerificationFailed')
    expect((await scene.party.next(report)).body).toMatchObject({
      code: 'e.p.presentation-verification-failed',
    })
  })

  test('neither is accepted from an unknown sender', async () => {
    await using scene = await startScene()
    await using stranger = await openParty()
    const thid = await scene.ask()
    const before = await scene.events()
    for (const name of ['request-presentation', 'presentation']) {
      for (const about of [thid, randomUUID()]) {
        const message = { type: `${didcommOrg}/${name}`, thid: about, attachments: token('x.y.z') }
        expect((await stranger.send(scene.theirDid, message)).status).toBeGreaterThanOrEqual(400)
        expect(
          (await stranger.send(scene.theirDid, { ...message, from: scene.party.did }, 'anoncrypt')).status,
        ).toBe(422)
      }
    }
    expect(await scene.events()).toEqual(before)
    await until(
      'nothing',
      () => Promise.resolve(stranger.envelopes.length),
      (count) => count === 0,
    )
  })
})
