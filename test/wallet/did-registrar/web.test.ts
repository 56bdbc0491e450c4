/**
 * did:web DIDs of this agent: creation, document, resolution by others, update, deactivation, issuing and
 * holding.
 */
import { expect, test } from 'vitest'
import { startAgent, type TestAgent } from '../../support/agent.ts'
import { connect, issue, presentationIn, refusal, startPair } from '../../support/tenants.ts'
import { toWebDid } from '../../../src/wallet/did-registrar/web.ts'
import { withDetail } from '../../support/detail.ts'
import { untilEnd } from '../../support/shared.ts'

const [pair, other] = await Promise.all([
  untilEnd(startPair()),
  untilEnd(startAgent({ DID_CACHE_LIFETIME: '0' })),
])

const template = {
  publicKeys: [
    { id: 'auth', purpose: 'authentication', curve: 'Ed25519' },
    { id: 'sign', purpose: 'assertionMethod' },
  ],
  services: [{ id: 'site', type: 'LinkedDomains', serviceEndpoint: 'https://acme.example' }],
}

const create = async (body: object, call = pair.issuer.call) =>
  (
    await call('POST /did-registrar/dids', {
      body: { method: 'web', documentTemplate: template, ...body } as never,
    })
  ).longFormDid

async function get(agent: TestAgent, path: string) {
  const response = await agent.send('GET', path)
  return { status: response.status, body: (await response.json()) as any }
}

const served = (did: string) => get(pair.agent, `/${did.split(':').slice(3).join('/')}/did.json`)

test('is published at once, served at its path, and resolves to the same document everywhere', async () => {
  const did = await create({ name: 'acme' })
  expect(did).toBe(`did:web:127.0.0.1%3A${new URL(pair.agent.url).port}:web:acme`)
  const document = await served(did)
  expect(document).toMatchObject({
    status: 200,
    body: {
      id: did,
      verificationMethod: [
        { id: `${did}#auth`, publicKeyJwk: { crv: 'Ed25519' } },
        { id: `${did}#sign`, publicKeyJwk: { crv: 'secp256k1' } },
      ],
      assertionMethod: [`${did}#sign`],
      service: [{ id: `${did}#site`, serviceEndpoint: 'https://acme.example/' }],
    },
  })
  for (const agent of [pair.agent, other]) {
    expect(await get(agent, `/dids/${encodeURIComponent(did)}`)).toMatchObject({
      status: 200,
      body: { didDocument: document.body },
    })
  }
  const path = { didRef: did }
  expect(await pair.issuer.call('GET /did-registrar/dids/{didRef}', { path })).toEqual({
    did,
    status: 'PUBLISHED',
  })
  expect((await pair.issuer.call('GET /did-registrar/dids')).contents).toContainEqual({
    did,
    status: 'PUBLISHED',
  })
  expect(await pair.issuer.call('POST /did-registrar/dids/{didRef}/publications', { path })).toMatchObject({
    scheduledOperation: { didRef: did },
  })
})

test('a name belongs to one DID of one wallet', async () => {
  await create({ name: 'in-use' })
  for (const { call } of [pair.issuer, pair.holder]) {
    expect(await refusal(create({ name: 'in-use' }, call))).toMatchObject(withDetail(409, 'Choose another'))
  }
  const [one, two] = [await create({}), await create({})]
  expect(one).not.toBe(two)
  expect(
    await refusal(pair.holder.call('GET /did-registrar/dids/{didRef}', { path: { didRef: one } })),
  ).toMatchObject({ status: 404 })
})

test.each([
  ['a name with a slash', { name: 'a/b' }, 400, /name/],
  ['a name of dots', { name: '..' }, 400, /name/],
  ['another method', { method: 'ion' }, 400, /method/],
  [
    'a rule of templates',
    { documentTemplate: { publicKeys: [{ id: 'k', purpose: 'keyAgreement', curve: 'Ed25519' }] } },
    422,
    /Ed25519 must/,
  ],
  [
    'P-256 for key agreement',
    { documentTemplate: { publicKeys: [{ id: 'k', purpose: 'keyAgreement', curve: 'P-256' }] } },
    422,
    /P-256 must/,
  ],
  [
    'a context twice',
    { documentTemplate: { contexts: ['https://a.example', 'https://a.example'] } },
    422,
    /twice/,
  ],
])('refuses %s, and keeps the name free', async (_name, body, status, reason) => {
  expect(await refusal(create({ name: 'free', ...body }))).toMatchObject({
    status,
    detail: expect.stringMatching(reason),
  })
  expect((await get(pair.agent, '/web/free/did.json')).status).toBe(404)
})

test('requires https, except on loopback', () => {
  expect(toWebDid('https://agent.example', 'x')).toBe('did:web:agent.example:web:x')
  expect(toWebDid('https://agent.example:8443/cloud-agent', 'x')).toBe(
    'did:web:agent.example%3A8443:cloud-agent:web:x',
  )
  expect(() => toWebDid('http://agent.example', 'x')).toThrow(/Set REST_SERVICE_URL/)
})

test('an update is visible at once, a deactivation is permanent', async () => {
  const did = await create({ name: 'changing' })
  const update = (...actions: object[]) =>
    pair.issuer.call('POST /did-registrar/dids/{didRef}/updates', {
      path: { didRef: did },
      body: { actions } as never,
    })
  // The change invalidates cached documents.
  await get(pair.agent, `/dids/${encodeURIComponent(did)}`)
  const { scheduledOperation } = await update(
    { actionType: 'ADD_KEY', addKey: { id: 'sign-2', purpose: 'assertionMethod' } },
    { actionType: 'REMOVE_KEY', removeKey: { id: 'sign' } },
  )
  expect(scheduledOperation).toEqual({ id: expect.stringMatching(/^[0-9a-f]{64}$/), didRef: did })
  for (const agent of [pair.agent, other]) {
    const { body } = await get(agent, `/dids/${encodeURIComponent(did)}`)
    expect(body.didDocument.assertionMethod).toEqual([`${did}#sign-2`])
  }
  expect(
    await refusal(update({ actionType: 'ADD_KEY', addKey: { id: 'sign', purpose: 'assertionMethod' } })),
  ).toMatchObject(withDetail(400, 'exists or existed'))
  await pair.issuer.call('POST /did-registrar/dids/{didRef}/deactivations', { path: { didRef: did } })
  expect((await served(did)).status).toBe(410)
  expect((await get(pair.agent, `/dids/${encodeURIComponent(did)}`)).status).toBe(410)
  expect(await refusal(update({ actionType: 'REMOVE_KEY', removeKey: { id: 'auth' } }))).toMatchObject({
    status: 409,
  })
})

test('issues, holds and proves like other DIDs', async () => {
  const { issuer, holder } = pair
  const { inviterConnectionId } = await connect(issuer, holder)
  const [issuingDID, subjectId] = [await create({}), await create({}, holder.call)]
  const { recordId, credential } = await issue(issuer, holder, inviterConnectionId, issuingDID, subjectId)
  expect(JSON.parse(Buffer.from(credential.split('.')[1]!, 'base64url').toString())).toMatchObject({
    iss: issuingDID,
    sub: subjectId,
  })
  const { thid } = await issuer.call('POST /present-proof/presentations', {
    body: { connectionId: inviterConnectionId, proofs: [], options: { challenge: 'c', domain: 'd' } },
  })
  const { presentationId } = await presentationIn(holder.call, thid, 'RequestReceived')
  await holder.call('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId },
    body: { action: 'request-accept', proofId: [recordId] } as never,
  })
  expect(await presentationIn(issuer.call, thid, 'PresentationVerified')).toMatchObject({
    status: 'PresentationVerified',
  })
})
