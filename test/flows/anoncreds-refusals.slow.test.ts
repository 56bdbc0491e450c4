/**
 * Invalid AnonCreds offers, requests and credentials are refused, with the reason in the record and in a
 * report.
 */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { base64Attachment } from '../../src/exchange/didcomm/message.ts'
import { startAgent } from '../support/agent.ts'
import { claims, publishDefinition, type Published } from '../credentials/anoncreds/_definition.ts'
import { made } from '../credentials/anoncreds/_flow.ts'
import { credentialIn, newDid, refusal } from '../support/tenants.ts'
import { openParty, typesOf } from '../support/party.ts'
import { expectRefusal, issueRequested } from './_steps.ts'
import { untilEnd } from '../support/shared.ts'

const report = 'https://didcomm.org/report-problem/2.0/problem-report'

const agent = await untilEnd(startAgent())
const engine = agent.agent.env.anoncreds
const tenant = await agent.newTenant('tenant')
const publisher = await agent.newTenant('publisher')
const published = await publishDefinition(agent, publisher, (await newDid(publisher, 'assertionMethod')).did)
const party = await untilEnd(openParty())
const sides = await party.connect(tenant)

const attach = (content: object, format: string) => [
  base64Attachment(randomUUID(), JSON.stringify(content), format),
]
const accept = (recordId: string, body: object = {}) =>
  tenant.call('POST /issue-credentials/records/{recordId}/accept-offer', { path: { recordId }, body })
const createOffer = () => engine.createOffer({ ...published, keyCorrectnessProof: made.keyCorrectnessProof })

/** The party sends an offer as an issuer without an agent. */
async function offer(
  change: (offer: any) => unknown = () => undefined,
  attributes: Record<string, unknown> = claims,
  thid = randomUUID(),
) {
  const offered: any = await createOffer()
  change(offered)
  const answer = await party.send(sides.theirDid, {
    type: typesOf.offer,
    thid,
    body: {
      credential_preview: {
        body: { attributes: Object.entries(attributes).map(([name, value]) => ({ name, value })) },
      },
    },
    attachments: attach(offered, 'anoncreds/credential-offer@v1.0'),
  })
  return { thid, offered, answer }
}

describe('an offer', () => {
  const cases: [string, (offer: any) => unknown, RegExp, Record<string, unknown>?][] = [
    ['without a definition', (o) => delete o.cred_def_id, /cred_def_id/],
    ['without a nonce', (o) => delete o.nonce, /nonce/],
    ['with an invalid nonce', (o) => (o.nonce = 'x'), /nonce/],
    ['without a proof of its key', (o) => delete o.key_correctness_proof, /key_correctness_proof/],
    ['without attributes', () => undefined, /no attributes/, {}],
  ]
  test.each(cases)('%s is refused and reported', async (_, change, detail, attributes = claims) => {
    const { thid, answer } = await offer(change, attributes)
    expect(answer).toEqual({ status: 400, detail: expect.stringMatching(detail) })
    expect(await party.next(report)).toMatchObject({
      pthid: thid,
      body: { code: 'e.p.msg.offer-refused', comment: answer.detail },
    })
  })

  type Unacceptable = {
    change?: (offer: any) => unknown
    attributes?: Record<string, unknown>
    body?: object
    status?: number
  }
  const unacceptable: [string, Unacceptable, RegExp][] = [
    ['is about a DID', { body: { subjectId: 'did:prism:abc' } }, /^subjectId: /],
    ['names a key', { body: { keyId: 'key-1' } }, /^keyId: /],
    ['lacks an attribute', { attributes: { age: '1', country: 'x' } }, /lacks the attribute givenname/],
    ['has an additional attribute', { attributes: { ...claims, email: 'x' } }, /no attribute email/],
    [
      'is for another schema',
      { change: (o) => (o.schema_id = 'https://x.example/schema') },
      /for the schema/,
    ],
    [
      'is of an unknown definition',
      {
        change: (o) => (o.cred_def_id = published.credDefId.replace(/[0-9a-f]{8}/, '00000000')),
        status: 422,
      },
      /could not be read/,
    ],
    [
      'is of a schema instead of a definition',
      { change: (o) => (o.cred_def_id = published.schemaId), status: 422 },
      /could not be read/,
    ],
    ['has another key', { change: (o) => (o.key_correctness_proof.c = '5') }, /key correctness proof/],
  ]
  test.each(unacceptable)(
    'that %s cannot be accepted and stays open',
    async (_, { change, attributes, body, status = 400 }, detail) => {
      const { thid } = await offer(change, attributes)
      const { recordId } = await credentialIn(tenant.call, thid, 'OfferReceived')
      await expectRefusal(accept(recordId, body), status, detail)
      expect(await credentialIn(tenant.call, thid, 'OfferReceived')).toMatchObject({ recordId })
    },
  )
})

/** An accepted offer. Returns the party's means to issue a credential, and a valid credential. */
async function startIssuing() {
  const { thid, offered } = await offer()
  const { recordId } = await credentialIn(tenant.call, thid, 'OfferReceived')
  await accept(recordId)
  const asked = await party.next(typesOf.credentialRequest)
  expect(asked).toMatchObject({ thid, body: { goal_code: 'Request Credential' } })
  expect(asked.attachments).toMatchObject([{ format: 'anoncreds/credential-request@v1.0' }])
  const request = JSON.parse(Buffer.from(asked.attachments![0]!.data.base64!, 'base64url').toString())
  const definition = await agent.agent.env.getCredentialDefinition(published.credDefId)
  const sign = (values: Record<string, string>, of = request) =>
    engine.createCredential({ definition, privateKey: made.privateKey, offer: offered, request: of, values })
  /** A request with another link secret. */
  const requestOfOthers = async () => {
    const linkSecret = await engine.createLinkSecret()
    return (await engine.createRequest({ definition, linkSecret, offer: offered })).request
  }
  const good: any = await sign(claims)
  return {
    thid,
    recordId,
    good,
    sign,
    requestOfOthers,
    damaged: (change: (credential: any) => unknown) => {
      const copy = structuredClone(good)
      change(copy)
      return copy
    },
    send: (credential: object) =>
      party.send(sides.theirDid, {
        type: typesOf.credential,
        thid,
        attachments: attach(credential, 'anoncreds/credential@v1.0'),
      }),
  }
}
type Issuing = Awaited<ReturnType<typeof startIssuing>>

describe('the flow ends without a stored credential when the credential', () => {
  const cases: [string, (issuing: Issuing) => object | Promise<object>, RegExp][] = [
    [
      'has another signed value',
      ({ sign }) => sign({ ...claims, age: '31' }),
      /claim age is not what was offered/,
    ],
    [
      'is of another definition',
      ({ damaged }) => damaged((c) => (c.cred_def_id = 'https://x.example/definition')),
      /is of the definition/,
    ],
    [
      'is of another schema',
      ({ damaged }) => damaged((c) => (c.schema_id = 'https://x.example/schema')),
      /is of the schema/,
    ],
    [
      'has another raw value',
      ({ damaged }) => damaged((c) => (c.values.age.raw = '31')),
      /age is not what was offered/,
    ],
    ['lacks an attribute', ({ damaged }) => damaged((c) => delete c.values.age), /lacks the claim age/],
    [
      'has an additional attribute',
      ({ damaged }) => damaged((c) => (c.values.email = { raw: '1', encoded: '1' })),
      /email, which was not offered/,
    ],
  ]
  test.each(cases)('%s', async (_, make, reason) => {
    const issuing = await startIssuing()
    const { thid, recordId, good, send } = issuing
    expect((await send(await make(issuing))).status).toBe(200)
    const ended = await credentialIn(tenant.call, thid, 'ProblemReportSent')
    expect(ended).toMatchObject({
      recordId,
      metaLastFailure: {
        type: 'error:CredentialServiceError:InvalidCredentialIssue',
        detail: expect.stringMatching(reason),
      },
    })
    expect(ended).not.toHaveProperty('credential')
    expect(await party.next(report)).toMatchObject({
      pthid: thid,
      body: { code: 'e.p.trust.credential-refused', comment: ended.metaLastFailure!.detail },
    })
    expect((await send(good)).status).toBe(400)
    expect((await credentialIn(tenant.call, thid, 'ProblemReportSent')).recordId).toBe(recordId)
  })
})

test('an invalid credential is refused and stored as a failure, and a valid one is accepted afterwards', async () => {
  const { thid, recordId, good, sign, requestOfOthers, damaged, send } = await startIssuing()
  const cases: [string, object, RegExp][] = [
    [
      'is for another link secret',
      await sign(claims, await requestOfOthers()),
      /Signature correctness proof/,
    ],
    [
      'has another encoded value',
      damaged((c) => (c.values.age.encoded = '31')),
      /signed value of its attribute age does not encode its text/,
    ],
    [
      'has another encoding of a string',
      damaged((c) => (c.values.country.encoded = '5')),
      /signed value of its attribute country/,
    ],
    [
      'has another signature',
      damaged((c) => (c.signature.p_credential.a = '123')),
      /Signature correctness proof/,
    ],
    [
      'has another exponent',
      damaged((c) => (c.signature.p_credential.e = '123')),
      /Signature correctness proof/,
    ],
    [
      'has another proof',
      damaged((c) => (c.signature_correctness_proof.c = '5')),
      /Signature correctness proof/,
    ],
    ['has no signature', damaged((c) => delete c.signature), /signature/],
    [
      'has malformed numbers',
      damaged((c) => (c.signature.p_credential.v = 'x')),
      /signature\.p_credential\.v/,
    ],
    ['can be revoked', damaged((c) => (c.rev_reg_id = 'x')), /rev_reg_id/],
    ['is an array', [], /must be an object/],
  ]
  for (const [what, credential, reason] of cases) {
    const answer = await send(credential)
    expect([what, answer]).toEqual([what, { status: 400, detail: expect.stringMatching(reason) }])
    expect(await party.next(report)).toMatchObject({
      pthid: thid,
      body: { code: 'e.p.trust.credential-refused', comment: answer.detail },
    })
    const waiting = await credentialIn(tenant.call, thid, 'RequestSent')
    expect(waiting.metaLastFailure).toMatchObject({
      type: 'error:CredentialServiceError:InvalidCredentialIssue',
      detail: answer.detail,
    })
  }
  expect((await send(good)).status).toBe(200)
  await credentialIn(tenant.call, thid, 'CredentialReceived')
  expect((await send(good)).status).toBe(400)
  await party.next(report)
  const { issuer, definition: named } = await tenant.call(
    'GET /issue-credentials/records/{recordId}/credential',
    { path: { recordId } },
  )
  expect([issuer, named]).toEqual([published.issuingDID, published.credDefId])
})

describe('a request', () => {
  async function offered() {
    const own = await publishedByTenant()
    const { thid, recordId } = await tenant.call('POST /issue-credentials/credential-offers', {
      body: {
        connectionId: sides.connectionId,
        credentialFormat: 'AnonCreds',
        credentialDefinitionId: own.guid,
        claims,
      },
    })
    const message = await party.next(typesOf.offer)
    expect(message).toMatchObject({
      thid,
      body: { goal_code: 'Offer Credential', credential_preview: { schema_id: own.schemaId } },
    })
    const offer = JSON.parse(Buffer.from(message.attachments![0]!.data.base64!, 'base64url').toString())
    expect([message.attachments![0]!.format, offer.cred_def_id]).toEqual([
      'anoncreds/credential-offer@v1.0',
      own.credDefId,
    ])
    const definition = await agent.agent.env.getCredentialDefinition(own.credDefId)
    const { request } = await engine.createRequest({
      definition,
      linkSecret: await engine.createLinkSecret(),
      offer,
    })
    const send = (content: object) =>
      party.send(sides.theirDid, {
        type: typesOf.credentialRequest,
        thid,
        attachments: attach(content, 'anoncreds/credential-request@v1.0'),
      })
    return { thid, recordId, request: request as any, send }
  }
  let own: Promise<Published> | undefined
  const publishedByTenant = () =>
    (own ??= newDid(tenant, 'assertionMethod').then(({ did }) => publishDefinition(agent, tenant, did)))

  test('that is invalid is refused, and the offer stays open for a valid one', async () => {
    const { thid, recordId, request, send } = await offered()
    const cases: [object, RegExp][] = [
      [{ ...request, cred_def_id: published.credDefId }, /for another definition/],
      [{ ...request, nonce: 'x' }, /nonce/],
      [{ ...request, blinded_ms: undefined }, /blinded_ms/],
      [{}, /cred_def_id/],
    ]
    for (const [content, reason] of cases) {
      const answer = await send(content)
      expect(answer).toEqual({ status: 400, detail: expect.stringMatching(reason) })
      expect(await party.next(report)).toMatchObject({
        pthid: thid,
        body: { code: 'e.p.trust.request-refused' },
      })
      expect((await credentialIn(tenant.call, thid, 'OfferSent')).metaLastFailure?.detail).toBe(answer.detail)
    }
    expect((await send(request)).status).toBe(200)
    await issueRequested(tenant, recordId)
    const issued = await party.next(typesOf.credential)
    expect(issued).toMatchObject({
      thid,
      body: { goal_code: 'Issue Credential' },
      attachments: [{ format: 'anoncreds/credential@v1.0' }],
    })
    await credentialIn(tenant.call, thid, 'CredentialSent')
  })

  test('with an invalid proof ends the flow without a credential, and the holder gets a report', async () => {
    const { thid, recordId, request, send } = await offered()
    await send({ ...request, blinded_ms: { ...request.blinded_ms, u: '12345' } })
    const issue = () => issueRequested(tenant, recordId)
    await issue()
    const ended = await credentialIn(tenant.call, thid, 'ProblemReportSent')
    expect(ended).not.toHaveProperty('credential')
    expect(ended.metaLastFailure?.detail).toMatch(/The request does not hold: .*BlindedCredentialSecrets/)
    expect(await party.next(report)).toMatchObject({
      pthid: thid,
      body: { code: 'e.p.trust.request-refused', comment: ended.metaLastFailure!.detail },
    })
    expect((await refusal(issue())).status).toBe(400)
  })
})
