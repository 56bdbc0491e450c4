/** Public resources of a wallet, which clients request without a key at a node that does not own the wallet. */
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask } from '../support/ask.ts'
import type { Daemon } from '../support/daemon.ts'
import { needsPostgres } from '../support/needs-postgres.ts'
import { connect, issue, newDid, publishSchema, until, type Tenant } from '../support/tenants.ts'
import { newHolder } from '../exchange/enterprise/_suite.ts'
import { statusOf } from '../flows/_revocation.ts'
import { consent, offered, push, redeemAuthorized } from '../exchange/oid4vci/_authorization.ts'
import { begin, comeBack, useProvider, visit } from '../exchange/oid4vci/log-in/_browser.ts'
import { startLyingProvider } from '../exchange/oid4vci/log-in/_lying-provider.ts'
import { addIssuer, offer, prove as proveKey, redeemOffer, request } from '../exchange/oid4vci/_wallet.ts'
import { startNodes, type Nodes } from './_nodes.ts'

needsPostgres()

let nodes: Nodes
/** The owner of the wallets of the test, and another node, whose address is that of public URLs. */
let owner: Daemon
let other: Daemon
/** Tenants of the owner. */
let issuer: Tenant
let holder: Tenant
beforeAll(async () => {
  nodes = await startNodes(['other', 'owner'], { SHORT_URL_REQUESTS_PER_MINUTE: '1000' })
  ;[other, owner] = nodes.daemons as [Daemon, Daemon]
  issuer = await owner.newTenant('issuer')
  holder = await owner.newTenant('holder')
})
afterAll(() => nodes[Symbol.asyncDispose]())

/** The answers of the owner and of the other node. Both are successful and the same. */
async function readAtBoth(path: string, headers: Record<string, string> = {}): Promise<any> {
  const [expected, forwarded] = await Promise.all(
    [owner, other].map((node) => ask(node, `GET ${path}`, { headers })),
  )
  expect(forwarded, path).toMatchObject({ status: 200, body: expected!.body })
  expect(forwarded!.headers.get('content-type')).toBe(expected!.headers.get('content-type'))
  return forwarded!.body
}

const pathOf = (url: string) => {
  const { pathname, search } = new URL(url)
  return pathname + search
}

test('the document of a did:web', async () => {
  const { longFormDid: did } = await issuer.call('POST /did-registrar/dids', {
    body: {
      method: 'web',
      name: 'acme',
      documentTemplate: { publicKeys: [{ id: 'key-1', purpose: 'authentication' }] },
    },
  } as never)
  expect(did).toContain(':web:acme')
  expect(await readAtBoth('/web/acme/did.json')).toMatchObject({ id: did })
  expect(await readAtBoth(`/dids/${encodeURIComponent(did)}`)).toMatchObject({ didDocument: { id: did } })
})

test('a status list, before and after a revocation', async () => {
  const { inviterConnectionId } = await connect(issuer, holder)
  const { did } = await newDid(issuer, 'assertionMethod')
  const { longFormDid } = await newDid(holder, 'authentication')
  const { credential, issuerRecordId: id } = await issue(
    issuer,
    holder,
    inviterConnectionId,
    did,
    longFormDid,
  )
  const path = pathOf(statusOf(credential).statusListCredential)
  const before = await readAtBoth(path)
  await issuer.call('PATCH /credential-status/revoke-credential/{id}', { path: { id } })
  const after = await readAtBoth(path)
  expect(after.credentialSubject.encodedList).not.toBe(before.credentialSubject.encodedList)
  const { headers } = await ask(other, `GET ${path}`)
  // `fetch` adds `Cache-Control`, which asks for the whole document.
  const asked = get(other.url + path, { headers: { 'if-none-match': headers.get('etag')! } })
  const [unchanged] = (await once(asked, 'response')) as [IncomingMessage]
  expect([unchanged.statusCode, await text(unchanged)]).toEqual([304, ''])
  expect((await fetch(other.url + path, { method: 'HEAD' })).status).toBe(200)
})

test('a short URL, as a document and as a page, until it is used', async () => {
  const made = await issuer.call('POST /connections', { body: { goal: 'a card' } })
  const path = pathOf(made.invitation.shortUrl!)
  expect(await readAtBoth(path)).toMatchObject({ body: { goal: 'a card' } })
  const page = await fetch(other.url + path, { headers: { accept: 'text/html' } })
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(await page.text()).toContain('a card')
  await issuer.call('DELETE /connections/{connectionId}', { path: { connectionId: made.connectionId } })
  expect(await ask(other, `GET ${path}`)).toMatchObject({ status: 410 })
})

test('a tenant accepts the short URL of a wallet of another node', async () => {
  const inviters = [issuer, await other.newTenant('inviter')]
  const invitees = [await other.newTenant('invitee'), holder]
  for (const [index, { call }] of inviters.entries()) {
    const { invitation, thid } = await call('POST /connections', { body: {} })
    const body = { invitation: invitation.shortUrl! }
    expect(await invitees[index]!.call('POST /connection-invitations', { body })).toMatchObject({ thid })
  }
})

test('a DID request is read and answered by its link, once', async () => {
  const { id, didRequest } = await issuer.call('POST /onboard/did-requests', { body: { from: 'Acme' } })
  const path = pathOf(didRequest.onboardEndpoint)
  expect(await readAtBoth(path)).toEqual(didRequest)
  const { did } = newHolder()
  expect(await ask(other, `POST ${path}`, { body: { did } })).toMatchObject({ status: 200 })
  expect(
    await issuer.call('GET /onboard/did-requests/{didRequestId}', { path: { didRequestId: id } }),
  ).toMatchObject({ did })
  expect(await ask(other, `POST /enterprise${path}`, { body: { did } })).toMatchObject({ status: 410 })
})

test('a challenge is read and answered by its link', async () => {
  const { id, challenge } = await issuer.call('POST /did-authentication/challenges', {
    body: { from: 'Acme' },
  })
  const path = pathOf(challenge.submissionEndpoint)
  expect(await readAtBoth(path)).toEqual(challenge)
  const { did, answer } = newHolder()
  expect(await ask(other, `POST ${path}`, { body: answer(challenge.nonce) })).toMatchObject({ status: 200 })
  expect(
    await issuer.call('GET /did-authentication/challenges/{challengeId}', { path: { challengeId: id } }),
  ).toMatchObject({ state: 'success', did })
})

test('the documents of the schema registry, the ledger and the keys of sign-in tokens, which all nodes have', async () => {
  const { did } = await newDid(issuer, 'assertionMethod')
  const schema = pathOf(await publishSchema(issuer, did))
  expect(await readAtBoth(schema)).toMatchObject({ author: did })
  expect(await readAtBoth(`${schema}/schema`)).toMatchObject({ type: 'object' })
  expect(await readAtBoth(`/cloud-agent${schema}`)).toMatchObject({ author: did })
  expect(await readAtBoth(`/dids/${did}`)).toMatchObject({ didDocument: { id: did } })
  expect(await readAtBoth(`/api/dids/${did}`)).toBeDefined()
  expect(await readAtBoth('/api/indexer-stats')).toBeDefined()
  expect(await readAtBoth('/.well-known/jwks.json')).toBeDefined()
})

test('the wallet of a link that does not exist is not searched at other nodes', async () => {
  const [expected, forwarded] = await Promise.all(
    [owner, other].map((node) =>
      Promise.all(
        ['/onboard/unknown', '/i?_oobid=unknown', '/credential-status/unknown', '/web/unknown/did.json'].map(
          async (path) => (await ask(node, `GET ${path}`)).status,
        ),
      ),
    ),
  )
  expect(forwarded).toEqual(expected)
  expect(forwarded).toEqual([404, 404, 404, 404])
})

test('an issuer of OpenID4VCI: a wallet knows the address of the other node only', async () => {
  const setup = await addIssuer(other, issuer)
  const { credentialOffer } = await offer(setup, { byReference: true })
  expect(credentialOffer).toContain(encodeURIComponent(other.url))
  await readAtBoth(`/.well-known/openid-credential-issuer/oid4vci/issuers/${setup.issuerId}`)
  const { body } = await redeemOffer(setup, credentialOffer)
  const reply = await request(setup, { token: body.access_token, jwt: await proveKey(setup) })
  expect([reply.status, reply.body.credentials?.length]).toEqual([200, 1])
  // The page and its form too.
  const { parameters, txCode, verifier } = await offered(setup)
  const { body: pushed } = await push(setup, parameters)
  const code = await consent(setup, { client_id: 'wallet', request_uri: pushed.request_uri }, txCode)
  expect((await redeemAuthorized(setup, { code, verifier })).status).toBe(200)
})

test('a log-in that begins at one node ends at each of them, with the cookie of the browser', async () => {
  await using provider = await startLyingProvider()
  const setup = await addIssuer(other, issuer)
  await useProvider(setup, provider.url)
  for (const node of [owner, other]) {
    const { parameters } = await offered(setup, { txCode: false })
    const { redirect, cookie } = await begin(setup, parameters)
    const { pathname, search } = await visit(setup, redirect)
    const at = (url: string) => comeBack(new URL(pathname + search, url), cookie)
    expect((await at(node.url)).text).toContain('Alice Adams')
  }
})

test('links of a node that has ended work at the node that takes over', async () => {
  const { didRequest } = await issuer.call('POST /onboard/did-requests', { body: { from: 'Acme' } })
  await owner.stop('SIGKILL')
  await until(
    'the link',
    () => ask(other, `GET ${pathOf(didRequest.onboardEndpoint)}`),
    ({ status }) => status === 200,
  )
  const { did } = newHolder()
  expect(await ask(other, `POST ${pathOf(didRequest.onboardEndpoint)}`, { body: { did } })).toMatchObject({
    status: 200,
  })
})
