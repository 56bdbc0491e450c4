/**
 * The promises of the README, the tutorial and the guides, each attacked by Mallory: a tenant of the same
 * agent, and where the attack comes from outside, a stranger at another agent with the same ledger. Beside
 * each attack, the honest flow succeeds.
 *
 * Promises that other tests attack already:
 *
 * | page | promise | test |
 * | --- | --- | --- |
 * | README, tutorial | listens on this machine only; foreign `Host` and `Origin` | daemon/listen, daemon/local, daemon/cors |
 * | README, request-proof | sender, holder of a bound credential, challenge, dates and revocation are checked | flows/adversaries.slow, credentials/codecs/forgeries, credentials/codecs/mutation.slow |
 * | tutorial, tenants | a tenant sees nothing of the others | daemon/isolation.store |
 * | tutorial, request-proof | credentials of Acme and no others; who issues to herself is refused, or `issuer not checked` | docs/snippets.slow, flows/request-issuers |
 * | tutorial, revoke | a revoked credential is refused, permanently, and only its issuer can revoke it | flows/revocation.store, flows/revocation-apart |
 * | automate | credentials of the trusted issuers only | flows/trusted-issuers |
 * | automate | offers in invitations wait for a person | flows/automatic-acceptance |
 * | bulk | an invitation is answered once, and expires | flows/connectionless.store, flows/flow-expiry |
 * | bulk | nothing is offered if a line is wrong; no row twice | commands/bulk |
 * | bulk | an `Idempotency-Key` belongs to its tenant, and to one body | exchange/engine/idempotency.store |
 * | bulk | a value of a scenario is one word, and never a flag | commands/run.slow |
 * | connect | an invitation connects one other side; short URLs end with it | flows/races.store, flows/short-urls, daemon/routes/i |
 * | connect | a label is not sent; messages are refused after the removal; invitations expire | flows/connection |
 * | issue | no one else can present a bound SD-JWT | flows/sd-jwt, exchange/oid4vp/direct-post |
 * | issue | a credential that differs from its offer is not stored | flows/as-offered |
 * | openid4vc | an offer is redeemed once, with its transaction code | exchange/oid4vci/pre-authorized, exchange/oid4vci/mutation.slow |
 * | openid4vc | the claims that were asked for alone; revoked, replayed or foreign presentations | exchange/oid4vp/direct-post, exchange/oid4vp/mutation.slow |
 * | openid4vc | `NOT trusted` before the consent | commands/oid4vc-present, exchange/oid4vp/holder/attacks |
 * | phones | who reaches the daemon, whom it calls, what its certificate is for | commands/lan.slow, commands/https.slow, foundation/net/reach, foundation/net/ssrf, daemon/address |
 * | prepare | keys are readable for their owner alone; a DID is changed by its keys alone | foundation/private-files, foundation/config/profile, did/prism |
 * | receive-webhooks | a tenant’s webhooks and events are its own; at least once and in order | daemon/isolation.store, wallet/events/deliveries |
 * | schemas | a published schema never changes, and only its author publishes versions | daemon/routes/schema-registry |
 * | schemas | every credential satisfies the policy | flows/policies, flows/proof-lines |
 * | sign-in | a link is used once and expires; a challenge that another site shows is not signed | exchange/enterprise/races, exchange/enterprise/time, exchange/enterprise/answers.store |
 * | tenants | scopes, expired and replaced keys, the administrator’s endpoints, guessing keys | daemon/scopes, wallet/api-keys.store, daemon/access, daemon/failed-attempts |
 * | tenants | a busy tenant does not stop the others; quotas | daemon/fairness, daemon/quotas.store |
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, writeFileSync } from 'node:fs'
import { connect as openSocket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { base64Attachment, jsonAttachment } from '../../src/exchange/didcomm/message.ts'
import { newSecret, sign } from '../../src/wallet/events/signature.ts'
import { sharedAgent } from '../support/agent.ts'
import { newFolder } from '../support/folder.ts'
import { freePort } from '../support/free-port.ts'
import { acceptRequestInvitation, decode, encode } from '../support/invitation.ts'
import { read, readBlocks } from '../support/pages.ts'
import { openParty, typesOf } from '../support/party.ts'
import {
  connect,
  credentialIn,
  issue,
  newDid,
  presentationIn,
  publishSchema,
  until,
  type Tenant,
} from '../support/tenants.ts'
import { newUser } from '../commands/_cli.ts'
import { issueSdJwtTo } from '../flows/_sd-jwt.ts'
import { expectRefusal, prove, readCredential, requestProof } from '../flows/_steps.ts'

/** Acme, Alice and Mallory at one agent, and a stranger at another one. Alice is connected with all of them. */
let acme: Tenant, alice: Tenant, mallory: Tenant, stranger: Tenant
let [acmeDid, malloryDid, aliceDid] = ['', '', '']
/** Acme's connection with Alice. */
let connectionId = ''
beforeAll(async () => {
  const agent = await sharedAgent()
  const elsewhere = await sharedAgent({ DEFAULT_WALLET_ENABLED: 'false' })
  ;[acme, alice, mallory] = [await agent.newTenant(), await agent.newTenant(), await agent.newTenant()]
  stranger = await elsewhere.newTenant()
  acmeDid = (await newDid(acme, 'assertionMethod', 'Ed25519')).did
  malloryDid = (await newDid(mallory, 'assertionMethod', 'Ed25519')).did
  aliceDid = (await newDid(alice, 'authentication', 'Ed25519')).did
  connectionId = (await connect(acme, alice)).inviterConnectionId
})

const attackers = [
  ['a tenant of the same agent', () => mallory],
  ['a stranger at another agent', () => stranger],
] as const

const issueBy = async (issuer: Tenant, did: string, schemaId?: string) => {
  const { inviterConnectionId } = await connect(issuer, alice)
  return issue(issuer, alice, inviterConnectionId, did, aliceDid, { name: 'Alice' }, schemaId)
}

describe('tutorial: the presentation answers this request and no other', () => {
  const formats = {
    JWT: {},
    SDJWT: { credentialFormat: 'SDJWT', claims: { name: '' } },
    DCQL: {
      dcqlQuery: {
        credentials: [{ id: 'a', format: 'jwt_vc_json', meta: { type_values: [['VerifiableCredential']] } }],
      },
    },
  } as const
  const attachmentOf = (format: keyof typeof formats, presentation: string) =>
    format === 'DCQL'
      ? jsonAttachment('1', JSON.parse(presentation), 'dcql/vp-token@v1.0')
      : base64Attachment('1', presentation, format === 'JWT' ? 'prism/jwt' : 'vc+sd-jwt')
  let held: Record<keyof typeof formats, string>
  beforeAll(async () => {
    const holding = { issuer: acme, holder: alice, connectionId, issuingDID: acmeDid, subjectId: aliceDid }
    const jwt = (await issueBy(acme, acmeDid)).recordId
    const { recordId: SDJWT } = await issueSdJwtTo(holding, { claims: { name: 'Alice' }, keyId: 'key-1' })
    held = { JWT: jwt, SDJWT, DCQL: jwt }
  })

  /**
   * Acme asks Mallory, who asks Alice with the same challenge and domain, and presents to Acme what Alice
   * presents to her. Returns why Alice’s agent refuses, or the state of Acme’s record.
   */
  async function passOn(
    by: Tenant,
    format: keyof typeof formats,
    options?: { challenge: string; domain: string },
  ) {
    await using party = await openParty()
    const toParty = await party.connect(acme)
    const terms = formats[format]
    const body = { connectionId: toParty.connectionId, ...terms, issuers: [acmeDid], options }
    const asked = await acme.call('POST /present-proof/presentations', { body: body as never })
    await party.next(typesOf.presentationRequest)
    const { options: seen } = JSON.parse(asked.requestData[0]!)
    const { inviterConnectionId } = await connect(by, alice)
    const passedOn = await by.call('POST /present-proof/presentations', {
      body: { connectionId: inviterConnectionId, ...terms, options: seen } as never,
    })
    const path = { presentationId: passedOn.presentationId }
    // The status of the answer may come before the report with the reason.
    const sent = await until(
      'the request arrives, or is refused with a reason',
      () => by.call('GET /present-proof/presentations/{presentationId}', { path }),
      ({ status, metaLastFailure }) =>
        status === 'RequestSent' || metaLastFailure?.detail?.includes('options.challenge') === true,
    )
    if (sent.metaLastFailure) return sent.metaLastFailure.detail
    const { presentationId } = await presentationIn(alice.call, passedOn.thid, 'RequestReceived')
    await prove(alice, presentationId, held[format])
    const { data } = await presentationIn(by.call, passedOn.thid, 'PresentationVerified')
    const type = 'https://didcomm.atalaprism.io/present-proof/3.0/presentation'
    const attachments = [attachmentOf(format, data[0]!)]
    expect(await party.send(toParty.theirDid, { type, thid: asked.thid, attachments })).toMatchObject({
      status: 200,
    })
    const { contents } = await acme.call('GET /present-proof/presentations', { query: { thid: asked.thid } })
    return contents[0]!.status
  }

  describe.each(attackers)('%s', (_, attacker) => {
    test.each(Object.keys(formats) as (keyof typeof formats)[])('passes a request on: %s', async (format) => {
      expect(await passOn(attacker(), format)).toContain('options.challenge: it is of another verifier')
      const { thid, presentationId } = await requestProof(acme, alice, {
        connectionId,
        ...formats[format],
        issuers: [acmeDid],
      })
      await prove(alice, presentationId, held[format])
      await presentationIn(acme.call, thid, 'PresentationVerified')
    })
  })

  test('a challenge that the verifier makes itself names nobody, so the attack above succeeds', async () => {
    const options = { challenge: 'of Acme', domain: 'https://acme.example' }
    expect(await passOn(mallory, 'JWT', options)).toBe('PresentationVerified')
  })

  test('passes a request on in an invitation', async () => {
    const invite = (options?: object) =>
      acme.call('POST /present-proof/presentations/invitation', { body: { proofs: [], options } as never })
    const request = await invite()
    const invitation = decode(request)
    const ownInvitation = decode(
      await mallory.call('POST /present-proof/presentations/invitation', { body: { proofs: [] } }),
    )
    ownInvitation.attachments[0].data.json.attachments = invitation.attachments[0].data.json.attachments
    await expectRefusal(
      acceptRequestInvitation(alice, encode(ownInvitation)),
      400,
      'it is of another verifier',
    )
    expect(await acceptRequestInvitation(alice, encode(invitation))).toMatchObject({ thid: request.thid })
  })

  test.each([
    'redirect_uri:https://acme.example/r',
    'decentralized_identifier:did:web:acme.example',
    'x509_hash:abc',
    'origin:https://acme.example',
  ])('passes on a request over OpenID4VP of %s', async (domain) => {
    const { inviterConnectionId } = await connect(mallory, alice)
    const ask = (options: object) =>
      mallory.call('POST /present-proof/presentations', {
        body: { connectionId: inviterConnectionId, proofs: [], options } as never,
      })
    const { presentationId } = await ask({ challenge: 'nonce', domain })
    // The status of the answer may come before the report with the reason.
    await until(
      'the refusal with its reason',
      () => mallory.call('GET /present-proof/presentations/{presentationId}', { path: { presentationId } }),
      ({ metaLastFailure }) =>
        metaLastFailure?.detail?.includes('options.domain: it is the client id') === true,
    )
    const { thid } = await ask({ challenge: 'nonce', domain: 'https://mallory.example' })
    await presentationIn(alice.call, thid, 'RequestReceived')
  })
})

describe.each(attackers)('automate: %s', (_, attacker) => {
  test('offers of one connection are accepted; other offers, and all proof requests, wait for a person', async () => {
    const holder = await (await sharedAgent()).newTenant()
    const { did: subjectId } = await newDid(holder, 'authentication')
    const [trusted, other] = [await connect(acme, holder), await connect(attacker(), holder)]
    const automaticAcceptance = { credentialOffers: true, subjectId, trustedIssuers: [acmeDid] }
    await holder.call('PATCH /connections/{connectionId}', {
      path: { connectionId: trusted.inviteeConnectionId },
      body: { automaticAcceptance },
    })
    const { did: ownDid } = await newDid(attacker(), 'assertionMethod')
    const offer = (by: Tenant, over: string, issuingDID: string) =>
      by.call('POST /issue-credentials/credential-offers', {
        body: { connectionId: over, issuingDID, claims: { name: 'Alice' }, automaticIssuance: true },
      })
    const forged = await offer(attacker(), other.inviterConnectionId, ownDid)
    await credentialIn(holder.call, forged.thid, 'OfferReceived')
    const requests = [
      await requestProof(attacker(), holder, { connectionId: other.inviterConnectionId }),
      await requestProof(acme, holder, { connectionId: trusted.inviterConnectionId, issuers: [acmeDid] }),
    ]
    const { thid } = await offer(acme, trusted.inviterConnectionId, acmeDid)
    const { recordId } = await credentialIn(holder.call, thid, 'CredentialReceived')
    await credentialIn(holder.call, forged.thid, 'OfferReceived')
    for (const request of requests) await presentationIn(holder.call, request.thid, 'RequestReceived')
    await prove(holder, requests[1]!.presentationId, recordId)
    await presentationIn(acme.call, requests[1]!.thid, 'PresentationVerified')
  })
})

test('bulk: a cell is a text or JSON, and not a file, a flag or a connection of somebody else', async () => {
  using user = newUser()
  const { run } = user.as({ AGENT_URL: acme.url, AGENT_API_KEY: acme.apiKey })
  const path = (name: string) => join(user.folder, name)
  const offer = (name: string, text: string) => {
    writeFileSync(path(name), text)
    return run(['credential', 'offer', '--csv', path(name), '--issuing-did', acmeDid])
  }
  writeFileSync(path('secret'), 'of this machine')
  const cells = [`@${path('secret')}`, '--api-key-file=key', '=1+1', '$(id)', '../../secret', '${vars.name}']
  expect(await offer('people.csv', `name\n${cells.join('\n')}\n`)).toMatchObject({ code: 0 })
  const { contents } = await acme.call('GET /issue-credentials/records', { query: { limit: 100 } })
  const names = contents.map(({ claims }) => claims['name'])
  for (const cell of cells) expect(names).toContain(cell)
  const { inviterConnectionId } = await connect(mallory, alice)
  for (const other of [inviterConnectionId, '--help', '../wallets'])
    expect(
      await offer('others.csv', `connection,name\n${connectionId},Alice\n${other},Alice\n`),
    ).toMatchObject({
      code: 2,
      err: expect.stringContaining(`line 3: there is no connection "${other}"`),
    })
})

test('issue: nobody else offers credentials of Acme’s DID', async () => {
  const offer = (by: Tenant) =>
    by.call('POST /issue-credentials/credential-offers/invitation', {
      body: { issuingDID: acmeDid, claims: { name: 'Alice' } },
    })
  for (const [, attacker] of attackers)
    await expectRefusal(offer(attacker()), 400, `The DID ${acmeDid} is not in this wallet`)
  expect(await offer(acme)).toMatchObject({ protocolState: 'InvitationGenerated' })
})

test('openid4vc: a credential of another issuer with Acme’s type does not answer the request, and an answered request takes no second answer', async () => {
  const accomplice = await (await sharedAgent()).newTenant()
  const { inviterConnectionId } = await connect(accomplice, mallory)
  const { did: ownIssuer } = await newDid(accomplice, 'assertionMethod', 'Ed25519')
  const { did: subjectId } = await newDid(mallory, 'authentication', 'Ed25519')
  const terms = (name: string) => ({ claims: { name }, keyId: 'key-1' })
  const own = {
    issuer: accomplice,
    holder: mallory,
    connectionId: inviterConnectionId,
    issuingDID: ownIssuer,
    subjectId,
  }
  const forged = await issueSdJwtTo(own, terms('Mallory'))
  const ofAcme = { issuer: acme, holder: alice, connectionId, issuingDID: acmeDid, subjectId: aliceDid }
  const honest = await issueSdJwtTo(ofAcme, terms('Alice'))
  const meta = { vct_values: ['https://www.w3.org/2018/credentials#VerifiableCredential'] }
  const dcqlQuery = { credentials: [{ id: 'a', format: 'dc+sd-jwt', meta, claims: [{ path: ['name'] }] }] }
  const request = () =>
    acme.call('POST /present-proof/presentations/openid4vp', {
      body: { dcqlQuery, issuers: [acmeDid] },
    })
  const answer = async (by: Tenant, { openid4vp }: Awaited<ReturnType<typeof request>>, recordId: string) => {
    const { authorizationRequest } = openid4vp!
    const { presentationId } = await by.call('POST /present-proof/presentations/openid4vp/requests', {
      body: { authorizationRequest },
    })
    return prove(by, presentationId, recordId)
  }
  const [first, second] = [await request(), await request()]
  await answer(mallory, first, forged.recordId)
  const { metaLastFailure } = await presentationIn(acme.call, first.thid, 'PresentationVerificationFailed')
  expect(metaLastFailure!.detail).toContain('does not trust the issuer')
  await answer(alice, second, honest.recordId)
  await presentationIn(acme.call, second.thid, 'PresentationVerified')
  const { presentationId } = await answer(mallory, second, forged.recordId)
  const late = await until(
    'the refusal',
    () => mallory.call('GET /present-proof/presentations/{presentationId}', { path: { presentationId } }),
    ({ metaLastFailure }) => metaLastFailure !== undefined,
  )
  expect(late.status).not.toBe('PresentationSent')
  expect((await presentationIn(acme.call, second.thid, 'PresentationVerified')).verification).toMatchObject({
    credentials: [{ claims: { name: 'Alice' }, issuer: acmeDid }],
  })
})

describe('receive-webhooks: the receiver of the page', () => {
  test('takes events that the secret signs, once and for five minutes, and survives every other request', async () => {
    const secret = newSecret()
    const { url, lines, isRunning } = await startReceiver(secret)
    const post = async (headers: Record<string, string>, body: string) =>
      (await fetch(url, { method: 'POST', headers, body })).status
    const event = (id: string) => JSON.stringify({ id, type: 'ConnectionUpdated', data: { state: id } })
    const at = new Date()
    const signed = (id: string, by = secret, when = at) =>
      sign([{ secret: by }], { id, at: when, body: event(id) })
    const minutes = (count: number) => new Date(at.getTime() + count * 60_000)

    expect(await post(signed('honest'), event('honest'))).toBe(204)
    for (const [headers, body] of [
      [{}, event('unsigned')],
      [signed('stranger', newSecret()), event('stranger')],
      [signed('honest'), event('altered')],
      [{ ...signed('honest'), 'webhook-id': 'other' }, event('honest')],
      [
        { ...signed('old', secret, minutes(-6)), 'webhook-timestamp': signed('old')['webhook-timestamp']! },
        event('old'),
      ],
      [signed('old', secret, minutes(-6)), event('old')],
      [signed('early', secret, minutes(6)), event('early')],
      [sign([{ secret }], { id: 'x', at, body: 'no JSON' }), 'no JSON'],
      [sign([{ secret }], { id: 'x', at, body: 'null' }), 'null'],
    ] as const)
      expect(await post(headers, body), body).toBe(401)
    expect(await post(signed('honest'), event('honest'))).toBe(204)
    await breakOff(url)
    expect(await post(signed('after'), event('after'))).toBe(204)
    expect(isRunning()).toBe(true)
    expect(await lines(2)).toEqual(['ConnectionUpdated honest', 'ConnectionUpdated after'])
  })

  test('does not take the events of another tenant that registers the same URL', async () => {
    // The receiver needs the secret, and the secret is made with the URL.
    const port = await freePort()
    const register = (tenant: Tenant) =>
      tenant.call('POST /events/webhooks', { body: { url: `http://127.0.0.1:${port}/events`, signed: true } })
    const [own, foreign] = [await register(acme), await register(mallory)]
    const { lines } = await startReceiver(own.secret!, port)
    const sent = (tenant: Tenant, id: string) =>
      tenant.call('POST /events/webhooks/{id}/test', { path: { id }, body: { type: 'ConnectionUpdated' } })
    expect(await sent(mallory, foreign.id)).toMatchObject({ status: 401 })
    expect(await sent(acme, own.id)).toMatchObject({ status: 204 })
    expect(await lines(1)).toEqual(['ConnectionUpdated'])
    expect(JSON.stringify(await acme.call('GET /events/webhooks'))).not.toContain(own.secret)
    for (const [tenant, { id }] of [
      [acme, own],
      [mallory, foreign],
    ] as const)
      await tenant.call('DELETE /events/webhooks/{id}', { path: { id } })
  })

  test('takes nothing without a secret', async () => {
    for (const none of ['null', '', 'whsec_']) {
      const { url, lines } = await startReceiver(none)
      const body = JSON.stringify({ id: 'a', type: 'ConnectionUpdated', data: {} })
      const headers = sign([{ secret: `whsec_${none}` }], { id: 'a', at: new Date(), body })
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(401)
      expect(await lines(0)).toEqual([])
    }
  })
})

test('request-proof, schemas: a schema of the same name by another author, and Acme’s schema used by another issuer, are refused', async () => {
  const ours = await publishSchema(acme, acmeDid, { name: 'employee' })
  const theirs = await publishSchema(mallory, malloryDid, { name: 'employee' })
  const constraints = [{ schemaId: ours, trustedIssuers: [acmeDid] }]
  const policy = await acme.call('POST /verification/policies', {
    body: { name: 'p', description: '', constraints },
  })
  const honest = await issueBy(acme, acmeDid, ours)
  const [sameName, sameSchema] = [
    await issueBy(mallory, malloryDid, theirs),
    await issueBy(mallory, malloryDid, ours),
  ]
  const shown = async (terms: object, { recordId }: { recordId: string }, state: string) => {
    const { thid, presentationId } = await requestProof(acme, alice, { connectionId, ...terms })
    await prove(alice, presentationId, recordId)
    return (await presentationIn(acme.call, thid, state)).metaLastFailure?.detail
  }
  const bySchema = { proofs: [{ schemaId: ours, trustIssuers: [acmeDid] }] }
  for (const terms of [bySchema, { policyId: policy.id }]) {
    for (const forged of [sameName, sameSchema])
      expect(await shown(terms, forged, 'PresentationVerificationFailed')).toMatch(/schema|issuer/)
    expect(await shown(terms, honest, 'PresentationVerified')).toBeUndefined()
  }
  const anyIssuer = { proofs: [{ schemaId: ours }] }
  expect(await shown(anyIssuer, sameName, 'PresentationVerificationFailed')).toMatch(/schema/)
})

test('revoke: only the issuer tells the holder that a credential is revoked', async () => {
  await using party = await openParty()
  const { theirDid } = await party.connect(alice)
  const { thid, recordId, issuerRecordId: id } = await issueBy(acme, acmeDid)
  const type = 'https://atalaprism.io/revocation_notification/1.0/revoke'
  const body = { issueCredentialProtocolThreadId: thid }
  await party.send(theirDid, { type, body })
  await party.send(theirDid, { type, thid, body })
  expect(await readCredential(alice, recordId)).not.toHaveProperty('revoked')
  await acme.call('PATCH /credential-status/revoke-credential/{id}', { path: { id } })
  await until(
    'the notice',
    () => readCredential(alice, recordId),
    ({ revoked }) => revoked === true,
  )
})

test('sign-in: the person who was asked for signs in, and nobody else', async () => {
  const onboard = async (person: Tenant) => {
    const { didRequest } = await acme.call('POST /onboard/did-requests', { body: { from: 'Acme' } })
    return (await person.call('POST /onboard/answers', { body: { didRequest } })).did!
  }
  const [own, expectedDid] = [await onboard(mallory), await onboard(alice)]
  const answered = async (person: Tenant, did: string) => {
    const { challenge, id } = await acme.call('POST /did-authentication/challenges', {
      body: { from: 'Acme', expectedDid },
    })
    const path = { challengeId: id }
    const answer = await person
      .call('POST /did-authentication/answers', { body: { challenge, did } })
      .catch((error) => error.problem)
    const { state } = await acme.call('GET /did-authentication/challenges/{challengeId}', { path })
    const token = (by: Tenant) => by.call('POST /did-authentication/challenges/{challengeId}/token', { path })
    return { answer, state, token }
  }
  const forged = await answered(mallory, own)
  expect(forged).toMatchObject({ state: 'error', answer: { status: 422 } })
  await expectRefusal(forged.token(acme), 400, 'Only a successful one')
  const honest = await answered(alice, expectedDid)
  expect(honest).toMatchObject({ state: 'success', answer: { did: expectedDid } })
  await expectRefusal(honest.token(mallory), 404, '')
  expect(await honest.token(acme)).toHaveProperty('token')
})

/** Runs `receiver.mjs` of the page with a secret. `lines` waits for a number of lines of its output. */
async function startReceiver(secret: string, port?: number) {
  const at = port ?? (await freePort())
  const folder = newFolder()
  const { text } = readBlocks(read('docs/how-to/receive-webhooks.md')).blocks.find(
    ({ file }) => file === 'receiver.mjs',
  )!
  writeFileSync(join(folder, 'receiver.mjs'), text)
  const client = fileURLToPath(new URL('../../dist/client.js', import.meta.url))
  copyFileSync(client, join(folder, 'agent-client.mjs'))
  const child = spawn(process.execPath, ['receiver.mjs'], {
    cwd: folder,
    env: { SECRET: secret, PORT: String(at) },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => void child.kill())
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  const url = `http://127.0.0.1:${at}/events`
  await until(
    'the receiver',
    () =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    (isUp) => isUp,
  )
  const printed = () => output.split('\n').flatMap((line) => line.trim() || [])
  return {
    url,
    isRunning: () => child.exitCode === null,
    lines: (count: number) =>
      until(
        'the lines',
        () => Promise.resolve(printed()),
        ({ length }) => length >= count,
      ),
  }
}

/** Sends a part of a request, and closes the connection. */
async function breakOff(url: string): Promise<void> {
  const { port, hostname } = new URL(url)
  const socket = openSocket(Number(port), hostname)
  await once(socket, 'connect')
  socket.write('POST /events HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{')
  await until(
    'the request',
    () => Promise.resolve(socket.bytesWritten > 0 && socket.writableLength === 0),
    Boolean,
  )
  socket.destroy()
  await once(socket, 'close')
}
