/**
 * The operations of the Cloud Agent API that the agent supports (`fixtures/service/endpoints.md`): each
 * exists with its access level and answers as documented.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { routes } from '../../daemon/routes/index.ts'
import { sharedAgent } from '../support/agent.ts'
import {
  connect,
  connectionIn,
  credentialIn,
  newDid,
  oobOf,
  presentationIn,
  type Tenant,
} from '../support/tenants.ts'

const document = readFileSync(new URL('../../fixtures/service/endpoints.md', import.meta.url), 'utf8')

type Row = { method: string; path: string; request: string; response: string; role: string }

const rows: Row[] = [
  ...document.matchAll(/^\| (GET|POST|PATCH) \| (\S+) \| (.+?) \| (.+?) \| (.+?) \|$/gm),
].map(([, method, path, request, response, role]) => ({
  method: method!,
  path: path!.replace('/present-proof/presentations/{id}', '/present-proof/presentations/{presentationId}'),
  request: request!,
  response: response!,
  role: role!,
}))

const names = (row: Row) => `${row.method} ${row.path}`

test('the table has nineteen rows', () => {
  expect(rows).toHaveLength(19)
})

describe.each(rows.map((row) => [names(row), row] as const))('%s', (key, { role }) => {
  const found = routes.find((route) => route.key === key)

  test('is a route with the documented access level', () => {
    expect(found, key).toBeDefined()
    const isAdmins = role === 'Admin'
    expect(isAdmins ? ['admin', 'admin-or-tenant'] : ['tenant']).toContain(found!.contract.access)
  })
})

test('every operation answers as documented, in the order of an onboarding, a connection and its events', async () => {
  const agent = await sharedAgent({ DEFAULT_WALLET_ENABLED: 'false' })
  const { admin } = agent
  const answered = new Set<string>()
  const saw = <Reply>(key: string, reply: Reply) => (answered.add(key), reply)

  // Wallets, entities and API keys.
  expect(saw('GET /wallets', await admin('GET /wallets'))).toEqual({
    self: '/wallets',
    kind: 'WalletPage',
    pageOf: '/wallets',
    contents: [],
  })
  const seed = 'ab'.repeat(64)
  const wallet = saw('POST /wallets', await admin('POST /wallets', { body: { name: 'acme', seed } }))
  expect(Object.keys(wallet).toSorted()).toEqual(['createdAt', 'id', 'name', 'updatedAt'])
  const entity = saw(
    'POST /iam/entities',
    await admin('POST /iam/entities', { body: { name: 'acme', walletId: wallet.id } }),
  )
  expect(entity).toMatchObject({
    kind: 'Entity',
    self: `/iam/entities/${entity.id}`,
    name: 'acme',
    walletId: wallet.id,
  })
  const key = await agent.send('POST', '/iam/apikey-authentication', {
    headers: { 'x-admin-api-key': 'the-administrator-of-the-tests' },
    body: JSON.stringify({ entityId: entity.id, apiKey: 'the-api-key-of-acme' }),
  })
  expect([saw('POST /iam/apikey-authentication', key.status), await key.text()]).toEqual([201, ''])
  const dids = await agent.send('GET', '/did-registrar/dids', { headers: { apikey: 'the-api-key-of-acme' } })
  expect([saw('GET /did-registrar/dids', dids.status), await dids.json()]).toEqual([
    200,
    expect.objectContaining({ contents: [] }),
  ])

  const [issuer, holder]: Tenant[] = [await agent.newTenant('issuer'), await agent.newTenant('holder')]

  // Webhooks come first, so that the following changes send events.
  const webhook = saw(
    'POST /events/webhooks',
    await issuer!.call('POST /events/webhooks', { body: { url: 'http://127.0.0.1:1/events' } }),
  )
  expect(webhook).toEqual({
    id: expect.any(String),
    url: 'http://127.0.0.1:1/events',
    customHeaders: {},
    createdAt: expect.any(String),
  })

  // Connections.
  const invited = saw(
    'POST /connections',
    await issuer!.call('POST /connections', { body: { label: 'Bob' } }),
  )
  expect(invited).toMatchObject({
    state: 'InvitationGenerated',
    label: 'Bob',
    invitation: { type: 'https://didcomm.org/out-of-band/2.0/invitation' },
  })
  const accepted = saw(
    'POST /connection-invitations',
    await holder!.call('POST /connection-invitations', { body: { invitation: oobOf(invited) } }),
  )
  expect(accepted).toMatchObject({
    state: 'ConnectionRequestPending',
    myDid: expect.stringMatching(/^did:peer:2/),
    theirDid: invited.invitation.from,
  })
  await connectionIn(holder!.call, invited.thid, 'ConnectionResponseReceived')
  await connectionIn(issuer!.call, invited.thid, 'ConnectionResponseSent')
  expect(saw('GET /connections', await issuer!.call('GET /connections'))).toMatchObject({
    kind: 'Collection',
    self: '/collections',
  })
  const read = await issuer!.call('GET /connections/{connectionId}', {
    path: { connectionId: invited.connectionId },
  })
  expect(saw('GET /connections/{connectionId}', read)).toMatchObject({
    connectionId: invited.connectionId,
    state: 'ConnectionResponseSent',
    self: invited.connectionId,
    kind: 'Connection',
  })

  // Credentials.
  const { did: issuingDID } = await newDid(issuer!, 'assertionMethod')
  const { did: subjectId } = await newDid(holder!, 'authentication')
  const offer = await issuer!.call('POST /issue-credentials/credential-offers', {
    body: { connectionId: invited.connectionId, issuingDID, claims: { name: 'x' } },
  })
  expect(saw('POST /issue-credentials/credential-offers', offer)).toMatchObject({
    protocolState: 'OfferPending',
    credentialFormat: 'JWT',
    role: 'Issuer',
  })
  const { recordId } = await credentialIn(holder!.call, offer.thid, 'OfferReceived')
  expect(
    saw('GET /issue-credentials/records', await holder!.call('GET /issue-credentials/records')).contents.map(
      (record) => record.recordId,
    ),
  ).toEqual([recordId])
  const record = await holder!.call('GET /issue-credentials/records/{recordId}', { path: { recordId } })
  expect(saw('GET /issue-credentials/records/{recordId}', record)).toMatchObject({
    recordId,
    role: 'Holder',
    claims: { name: 'x' },
  })
  const request = await holder!.call('POST /issue-credentials/records/{recordId}/accept-offer', {
    path: { recordId },
    body: { subjectId },
  })
  expect(saw('POST /issue-credentials/records/{recordId}/accept-offer', request)).toMatchObject({
    protocolState: 'RequestPending',
    subjectId,
  })
  await credentialIn(issuer!.call, offer.thid, 'RequestReceived')
  const issued = await issuer!.call('POST /issue-credentials/records/{recordId}/issue-credential', {
    path: { recordId: offer.recordId },
  })
  expect(saw('POST /issue-credentials/records/{recordId}/issue-credential', issued).protocolState).toBe(
    'CredentialPending',
  )
  await credentialIn(holder!.call, offer.thid, 'CredentialReceived')

  // Proofs.
  const options = { challenge: 'a random seed', domain: 'a domain' }
  const proof = await issuer!.call('POST /present-proof/presentations', {
    body: { connectionId: invited.connectionId, proofs: [], options },
  })
  expect(saw('POST /present-proof/presentations', proof)).toMatchObject({
    status: 'RequestPending',
    role: 'Verifier',
  })
  const { presentationId } = await presentationIn(holder!.call, proof.thid, 'RequestReceived')
  expect(
    saw('GET /present-proof/presentations', await holder!.call('GET /present-proof/presentations')).contents,
  ).toHaveLength(1)
  const asked = await holder!.call('GET /present-proof/presentations/{presentationId}', {
    path: { presentationId },
  })
  expect(saw('GET /present-proof/presentations/{presentationId}', asked)).toMatchObject({
    id: presentationId,
    status: 'RequestReceived',
  })
  const proving = await holder!.call('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId },
    body: { action: 'request-accept', proofId: [recordId] },
  })
  expect(proving.status).toBe('PresentationPending')
  await presentationIn(issuer!.call, proof.thid, 'PresentationVerified')
  const path = { presentationId: proof.presentationId }
  const done = await issuer!.call('PATCH /present-proof/presentations/{presentationId}', {
    path,
    body: { action: 'presentation-accept' },
  })
  expect(saw('PATCH /present-proof/presentations/{presentationId}', done).status).toBe('PresentationAccepted')

  expect([...answered].toSorted()).toEqual(rows.map(names).toSorted())
})

test('two tenants of one agent connect like tenants of two agents, and so does a tenant with itself', async () => {
  const agent = await sharedAgent()
  const one = await agent.newTenant('one')
  const { thid } = await connect(one, one)
  expect(
    (await one.call('GET /connections', { query: { thid } })).contents.map(({ role }) => role).toSorted(),
  ).toEqual(['Invitee', 'Inviter'])
})
