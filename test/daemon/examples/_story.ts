/**
 * The calls that become the examples of the API document: Acme issues a membership card to Alice and asks her
 * to prove it.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { create, toBinary } from '@bufbuild/protobuf'
import { createClient, type Client } from '../../../daemon/client/client.ts'
import { createFileClient } from '../../../daemon/client/file-client.ts'
import { keysFor } from '../../../src/did/document.ts'
import { resolvePeerDid } from '../../../src/did/peer.ts'
import { packAnoncrypt } from '../../../src/exchange/didcomm/pack.ts'
import { AtalaObjectSchema } from '../../../src/did/prism/prism_pb.ts'
import { adminToken, type TestAgent } from '../../support/agent.ts'
import { signedCreate } from '../../did/prism/_make.ts'
import { newHolder } from '../../exchange/enterprise/_suite.ts'
import { answer, open, push, requestFor, sealedIn } from '../../exchange/oid4vci/_authorization.ts'
import { acceptOffer } from '../../exchange/oid4vci/holder/_holder.ts'
import { startFakeIssuer } from '../../exchange/oid4vci/holder/_issuer.ts'
import { givesRefreshTokens, renewed } from '../../exchange/oid4vci/holder/_refresh.ts'
import {
  codeOf,
  preAuthorizedGrant,
  prove as proveKey,
  redeem,
  redeemOffer,
  request,
} from '../../exchange/oid4vci/_wallet.ts'
import { connectionIn, credentialIn, oobOf, presentationIn, until } from '../../support/tenants.ts'
import { authority, pemOf, signRequest } from '../../foundation/x509/_chains.ts'
import { recording, type Example } from './_recorder.ts'
import { callRest } from './_rest.ts'

type Cast = {
  agent: TestAgent
  admin: Client
  anyone: Client
  acme: Client
  alice: Client
  webhook: string
  backups: string
  examples: Map<string, Example>
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const lastPart = (url: string) => url.split('/').at(-1)!
const shortForm = (longForm: string) => longForm.split(':').slice(0, 3).join(':')

async function administer({ admin, backups, agent, examples }: Cast) {
  const { id: walletId } = await admin('POST /wallets', { body: { name: 'Acme' } })
  await admin('GET /wallets')
  await admin('GET /wallets/{walletId}', { path: { walletId } })
  const { id } = await admin('POST /iam/entities', { body: { name: 'Acme', walletId } })
  const entity = { path: { id } }
  await admin('GET /iam/entities')
  await admin('PUT /iam/entities/{id}/name', { ...entity, body: { name: 'Acme Ltd' } })
  await admin('PUT /iam/entities/{id}/walletId', { ...entity, body: { walletId } })
  await admin('GET /iam/entities/{id}', entity)
  const body = { name: 'website', scopes: ['verifier' as const], expiresAt: '2099-12-31T00:00:00Z' }
  const key = await admin('POST /iam/entities/{id}/api-keys', { ...entity, body })
  await admin('GET /iam/entities/{id}/api-keys', entity)
  await admin('DELETE /iam/entities/{id}/api-keys/{keyId}', { path: { id, keyId: key.id } })
  const registered = { body: { entityId: id, apiKey: 'a-key-of-acme-0001' } }
  await admin('POST /iam/apikey-authentication', registered)
  await admin('DELETE /iam/apikey-authentication', registered)
  await admin('DELETE /iam/entities/{id}', entity)
  await admin('POST /_system/backups', { body: { folder: join(backups, 'first') } })
  await admin('POST /_system/master-key/rotation', { body: {} })
  await admin('GET /audit', { query: { limit: 1 } })
  await admin('GET /_system/health')
  await admin('GET /')
  await admin('GET /docs')
  await admin('GET /wallets/{walletId}/stats', { path: { walletId } })
  const [path, subject] = [{ walletId }, '9d2c7f4e-5b1a-4c3d-8e6f-0a1b2c3d4e5f']
  await admin('POST /wallets/{walletId}/uma-permissions', { path, body: { subject } })
  await admin('DELETE /wallets/{walletId}/uma-permissions', { path, query: { subject } })
  const transfer = { passphrase: 'correct horse battery staple' }
  const files = createFileClient(agent.url, { 'x-admin-api-key': adminToken })
  const content = await buffer(
    await files.download('POST /wallets/{walletId}/export', { path: { walletId }, body: transfer }),
  )
  examples.set('POST /wallets/{walletId}/export', { request: transfer })
  await admin('DELETE /wallets/{walletId}', { path: { walletId } })
  const response = await files.upload('POST /wallets/import', {
    query: { id: randomUUID() },
    headers: { 'x-passphrase': Buffer.from(transfer.passphrase).toString('base64url') },
    content: Readable.from([content]),
    length: content.length,
  })
  examples.set('POST /wallets/import', { response })
}

async function makeDids({ acme, alice }: Cast) {
  const publicKeys = [{ id: 'assert-1', purpose: 'assertionMethod' as const }]
  const { longFormDid } = await acme('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys } },
  })
  const didRef = shortForm(longFormDid)
  const published = await acme('POST /did-registrar/dids/{didRef}/publications', { path: { didRef } })
  const isPublished = async () =>
    (await acme('GET /did-registrar/dids', {})).contents[0]!.status === 'PUBLISHED'
  await until('publication', isPublished, Boolean)
  await acme('PATCH /did-registrar/dids/{didRef}', { path: { didRef }, body: { label: 'Acme signing' } })
  await acme('GET /did-registrar/dids/{didRef}', { path: { didRef } })
  await acme('GET /dids/{didRef}', { path: { didRef } })
  const addKey = { id: 'auth-1', purpose: 'authentication' as const, curve: 'Ed25519' as const }
  await acme('POST /did-registrar/dids/{didRef}/updates', {
    path: { didRef },
    body: { actions: [{ actionType: 'ADD_KEY', addKey }] },
  })
  const auth = [{ id: 'auth-1', purpose: 'authentication' as const }]
  const own = await alice('POST /did-registrar/dids', { body: { documentTemplate: { publicKeys: auth } } })
  return {
    issuingDID: didRef,
    subjectId: own.longFormDid,
    publication: published.scheduledOperation.id,
  }
}

async function connect({ acme, alice, anyone }: Cast) {
  const made = await acme('POST /connections', {
    body: { label: 'Alice', goal: 'To receive your membership card' },
  })
  const invitation = oobOf(made)
  const taken = await alice('POST /connection-invitations', { body: { invitation, label: 'Acme' } })
  await connectionIn(alice, made.thid, 'ConnectionResponseReceived')
  const { connectionId } = await connectionIn(acme, made.thid, 'ConnectionResponseSent')
  const path = { connectionId }
  await acme('GET /connections/{connectionId}', { path })
  await acme('PATCH /connections/{connectionId}', { path, body: { label: 'Alice, member 7' } })
  await alice('POST /messages', { body: { connectionId: taken.connectionId, content: 'Hello' } })
  await acme('POST /didcomm/pings', { body: { connectionId } })
  const { id: kid, publicKeyJwk: publicJwk } = keysFor(resolvePeerDid(taken.theirDid!), 'keyAgreement')[0]!
  const message = { id: made.thid, type: 'https://didcomm.org/empty/1.0/empty', body: {} }
  const envelope = packAnoncrypt(message, { recipients: [{ kid, publicJwk }] })
  await acme('POST /didcomm/unpack', { body: { envelope: JSON.parse(envelope) as never } })
  await anyone('GET /invitation', { query: { _oob: invitation } })
  const unused = await acme('POST /connections', { body: {} })
  const shortUrl = new URL(unused.invitation.shortUrl!)
  await alice('POST /invitation', { body: { invitation } })
  await anyone('GET /i', { query: { _oobid: shortUrl.searchParams.get('_oobid')! } })
  await acme('DELETE /connections/{connectionId}', { path: { connectionId: unused.connectionId } })
  return connectionId
}

async function publishSchemas({ acme, alice, agent }: Cast, author: string) {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { name: { type: 'string' }, member: { type: 'integer' } },
    required: ['name'],
  }
  const type = 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json'
  const body = { name: 'membership', version: '1.0.0', type, author, tags: ['member'], schema }
  const [second, third] = [
    { ...body, version: '1.1.0' },
    { ...body, version: '1.2.0' },
  ]
  const { guid, id } = await acme('POST /schema-registry/schemas', { body })
  await acme('GET /schema-registry/schemas', { query: { name: 'membership' } })
  await acme('GET /schema-registry/schemas/{guid}', { path: { guid } })
  await acme('GET /schema-registry/schemas/{guid}/schema', { path: { guid } })
  await acme('PUT /schema-registry/schemas/{guid}', { path: { guid: id }, body: second })
  await acme('PUT /schema-registry/{author}/{id}', { path: { author, id }, body: third })
  const byDid = await acme('POST /schema-registry/schemas/did-url', { body: { ...body, name: 'card' } })
  const published = JSON.parse(Buffer.from(byDid.resource, 'base64url').toString()) as {
    guid: string
    id: string
  }
  const path = { guid: published.guid }
  await acme('PUT /schema-registry/schemas/did-url/{guid}', {
    path: { guid: published.id },
    body: { ...second, name: 'card' },
  })
  await acme('GET /schema-registry/schemas/did-url', {})
  await acme('GET /schema-registry/schemas/did-url/{guid}', { path })
  await acme('GET /schema-registry/schemas/did-url/{guid}/schema', { path })
  const schemaId = `${agent.url}/schema-registry/schemas/${guid}`
  await alice('POST /verification/schema', { body: { schemaId, claims: { name: 'Alice', member: 7 } } })
  return schemaId
}

type Dids = { issuingDID: string; subjectId: string }
type Flow = Dids & { connectionId: string; schemaId: string }

async function issue({ acme, alice }: Cast, { connectionId, issuingDID, schemaId, subjectId }: Flow) {
  const claims = { name: 'Alice', member: 7 }
  const offer = { issuingDID, schemaId, claims, validityPeriod: 31_536_000 }
  const made = await acme('POST /issue-credentials/credential-offers', { body: { connectionId, ...offer } })
  const { recordId } = await credentialIn(alice, made.thid, 'OfferReceived')
  await alice('POST /issue-credentials/records/{recordId}/accept-offer', {
    path: { recordId },
    body: { subjectId },
  })
  await credentialIn(acme, made.thid, 'RequestReceived')
  const path = { recordId: made.recordId }
  await acme('POST /issue-credentials/records/{recordId}/issue-credential', { path, body: {} })
  const { credential } = await credentialIn(alice, made.thid, 'CredentialReceived')
  await credentialIn(acme, made.thid, 'CredentialSent')
  await acme('GET /issue-credentials/records/{recordId}', { path })
  await alice('GET /issue-credentials/records/{recordId}/credential', { path: { recordId } })
  await acme('GET /traces/{id}', { path: { id: made.thid } })

  const body = { issuingDID, claims: { name: 'Bob' }, goal: 'To receive your membership card' }
  const open = await acme('POST /issue-credentials/credential-offers/invitation', { body })
  const invitation = oobOf(open)
  const taken = await alice('POST /issue-credentials/credential-offers/accept-invitation', {
    body: { invitation },
  })
  const declined = { recordId: taken.recordId }
  await alice('POST /issue-credentials/records/{recordId}/reject-offer', { path: declined })
  return { recordId, issuedId: made.recordId, jwt: Buffer.from(credential!, 'base64url').toString() }
}

async function prove({ acme, alice }: Cast, { connectionId, schemaId, issuingDID }: Flow, recordId: string) {
  const options = { challenge: '11c91493-01b3-4c4d-ac36-b336bab5bddf', domain: 'https://acme.example' }
  const proofs = [{ schemaId, trustIssuers: [issuingDID] }]
  const made = await acme('POST /present-proof/presentations', { body: { connectionId, proofs, options } })
  const received = await presentationIn(alice, made.thid, 'RequestReceived')
  const path = { presentationId: received.presentationId }
  await alice('GET /present-proof/presentations/{presentationId}/candidates', { path })
  const answer = { action: 'request-accept' as const, proofId: [recordId] }
  await alice('PATCH /present-proof/presentations/{presentationId}', { path, body: answer })
  await presentationIn(acme, made.thid, 'PresentationVerified')
  await acme('GET /present-proof/presentations/{presentationId}', {
    path: { presentationId: made.presentationId },
  })
  const body = { proofs, options, goal: 'To see your membership card' }
  const open = await acme('POST /present-proof/presentations/invitation', { body })
  const invitation = oobOf(open)
  await alice('POST /present-proof/presentations/accept-invitation', { body: { invitation } })
}

async function proveByOpenId({ acme, alice, examples }: Cast) {
  const { longFormDid: did } = await acme('POST /did-registrar/dids', {
    body: { method: 'jwk', documentTemplate: { publicKeys: [], services: [] } },
  })
  const vct_values = ['https://acme.example/membership']
  const membership = {
    id: 'membership',
    format: 'dc+sd-jwt',
    meta: { vct_values },
    claims: [{ path: ['name'] }],
  }
  const body = {
    dcqlQuery: { credentials: [membership] },
    did,
    issuers: [did],
    redirectUri: 'https://shop.acme.example/done',
  }
  const { presentationId, openid4vp } = await acme('POST /present-proof/presentations/openid4vp', { body })
  const { authorizationRequest, pageUrl } = openid4vp!
  await alice('POST /present-proof/presentations/openid4vp/requests', { body: { authorizationRequest } })
  const uri = new URL(authorizationRequest).searchParams.get('request_uri')!
  const object = await (await fetch(uri)).text()
  const nonce = { wallet_nonce: 'qPmxiNFCR3QTm19POc8u' }
  for (const path of ['/r/{token}', '/oid4vp/requests/{token}'] as const) {
    examples.set(`GET ${path}`, { response: object })
    examples.set(`POST ${path}`, { request: nonce, response: object })
  }
  const { state } = JSON.parse(Buffer.from(object.split('.')[1]!, 'base64url').toString()) as {
    state: string
  }
  const form = { state, error: 'access_denied' }
  const answer = await fetch(pageUrl.replace(/page$/, 'response'), {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  const receipt = (await answer.json()) as { redirect_uri: string }
  examples.set('POST /oid4vp/requests/{token}/response', { request: form, response: receipt })
  examples.set('GET /oid4vp/requests/{token}/page', { response: await (await fetch(pageUrl)).json() })
  const responseCode = new URL(receipt.redirect_uri).searchParams.get('response_code')!
  await acme('POST /present-proof/presentations/{presentationId}/response-code', {
    path: { presentationId },
    body: { responseCode },
  })
  await proveByBrowser({ acme, examples }, body.dcqlQuery)
}

/** Without a wallet that has the credential: it declines. */
async function proveByBrowser(
  { acme, examples }: Pick<Cast, 'acme' | 'examples'>,
  dcqlQuery: { credentials: object[] },
) {
  const ask = async (origins?: string[]) => {
    const body = {
      dcqlQuery: dcqlQuery as never,
      issuers: 'trusted' as const,
      responseMode: 'dc_api' as const,
      origins,
    }
    const { presentationId, openid4vp } = await acme('POST /present-proof/presentations/openid4vp', { body })
    return { presentationId, ...openid4vp! }
  }
  const declined = { protocol: 'openid4vp-v1-unsigned' as const, data: { error: 'access_denied' } }
  const { pageUrl } = await ask()
  const answer = await fetch(pageUrl.replace(/page$/, 'digital-credential'), {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: new URL(pageUrl).origin },
    body: JSON.stringify(declined),
  })
  const response = await answer.json()
  examples.set('POST /oid4vp/requests/{token}/digital-credential', { request: declined, response })
  const { presentationId } = await ask(['https://shop.acme.example'])
  await acme('POST /present-proof/presentations/{presentationId}/digital-credential', {
    path: { presentationId },
    body: declined,
  })
}

async function addPicture({ acme, agent, examples }: Cast, apiKey: string) {
  const { id: issuerId } = await acme('POST /oid4vci/issuers', { body: {} })
  const files = createFileClient(agent.url, { apikey: apiKey })
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><circle r="8"/></svg>')
  const key = 'POST /oid4vci/issuers/{issuerId}/media'
  const content = Readable.from([svg], { objectMode: false })
  const response = await files.upload(key, { path: { issuerId }, content, length: svg.length })
  examples.set(key, { response })
  await acme('DELETE /oid4vci/issuers/{issuerId}', { path: { issuerId } })
}

async function offerByOpenId(cast: Cast, { schemaId, issuingDID }: Flow) {
  const { acme, anyone } = cast
  const server = { url: 'https://login.acme.example', clientId: 'issuer', clientSecret: 'a-secret-of-acme' }
  const { id: issuerId } = await acme('POST /oid4vci/issuers', { body: { authorizationServer: server } })
  const path = { issuerId }
  await acme('GET /oid4vci/issuers', {})
  const changed = { authorizationServer: { url: 'https://sign-in.acme.example' } }
  await acme('PATCH /oid4vci/issuers/{issuerId}', { path, body: changed })
  await acme('POST /oid4vci/issuers/{issuerId}/secret', { path })
  const body = { configurationId: 'Membership', format: 'jwt_vc_json' as const, schemaId }
  await acme('POST /oid4vci/issuers/{issuerId}/credential-configurations', { path, body })
  const typed = { configurationId: 'MembershipCard', format: 'dc+sd-jwt' as const, schemaId }
  await acme('POST /oid4vci/issuers/{issuerId}/credential-configurations', { path, body: typed })
  const typePath = { ...path, configurationId: typed.configurationId }
  await anyone('GET /oid4vci/issuers/{issuerId}/credential-types/{configurationId}', { path: typePath })
  await acme('GET /oid4vci/issuers/{issuerId}/credential-configurations', { path })
  const one = { path: { ...path, credentialConfigId: body.configurationId } }
  await acme('GET /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', one)
  await acme('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
    ...one,
    body: { issuingDID, display: { name: 'Membership card', backgroundColor: '#003366' } },
  })
  await anyone('GET /oid4vci/issuers/{issuerId}/.well-known/openid-credential-issuer', { path })
  await anyone('GET /.well-known/openid-credential-issuer/oid4vci/issuers/{issuerId}', { path })
  await redeemByOpenId(cast, { issuerId, issuingDID })
  await deliverOffer(cast, { issuerId, issuingDID })
  await deferByOpenId(cast, { issuerId, issuingDID })
  const { credentialOffer } = await acme('POST /oid4vci/issuers/{issuerId}/credential-offers', {
    path,
    body: { credentialConfigurationId: 'Membership', issuingDID, claims: { name: 'Alice', member: 7 } },
  })
  const { parameters } = await requestFor(credentialOffer)
  await anyone('POST /oid4vci/nonces', { body: { issuerState: parameters['issuer_state']! } })
  await authorizeByOpenId(cast, { schemaId, issuingDID })
  await acme('DELETE /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', one)
  await acme('DELETE /oid4vci/issuers/{issuerId}', { path })
  await acme('POST /oid4vci/credential-offers', {
    body: { type: 'Person', issuingDID, claims: { name: 'Alice' } },
  })
  await acme('GET /credential-types')
  await acme('POST /present-proof/presentations/openid4vp/by-type', {
    body: { type: 'Person', claims: [['name']], issuers: [issuingDID], did: issuingDID },
  })
}

async function deliverOffer(
  { acme }: Cast,
  { issuerId, issuingDID }: { issuerId: string; issuingDID: string },
) {
  await acme('POST /events/webhooks', {
    body: { url: 'http://127.0.0.1:9/send', signed: true, deliver: true },
  })
  const { recordId } = await acme('POST /oid4vci/issuers/{issuerId}/credential-offers', {
    path: { issuerId },
    body: {
      credentialConfigurationId: 'Membership',
      issuingDID,
      claims: { name: 'Alice', member: 7 },
      grant: 'pre-authorized_code',
      deliver: { to: 'mailto:alice@example.org', code: 'sms:+4915112345678' },
    },
  })
  const { delivery } = await acme('POST /issue-credentials/records/{recordId}/deliver', {
    path: { recordId },
  })
  await acme('POST /oid4vci/issuers/{issuerId}/deliveries/{deliveryId}', {
    path: { issuerId, deliveryId: delivery!.link.id },
    body: { status: 'sent' },
  })
}

async function redeemByOpenId(
  { acme, anyone, agent, examples }: Cast,
  { issuerId, issuingDID }: { issuerId: string; issuingDID: string },
) {
  const path = { issuerId }
  const { credentialOffer } = await acme('POST /oid4vci/issuers/{issuerId}/credential-offers', {
    path,
    body: {
      credentialConfigurationId: 'Membership',
      issuingDID,
      claims: { name: 'Alice', member: 7 },
      grant: 'pre-authorized_code',
      byReference: true,
    },
  })
  const shortId = lastPart(new URL(credentialOffer).searchParams.get('credential_offer_uri')!)
  await anyone('GET /o/{shortId}', { path: { shortId } })
  const setup = { agent, issuerId, identifier: `${agent.url}/oid4vci/issuers/${issuerId}` }
  const form = { grant_type: preAuthorizedGrant, 'pre-authorized_code': await codeOf(credentialOffer) }
  const { body: token } = await redeem(setup, form)
  examples.set('POST /oid4vci/issuers/{issuerId}/token', { request: form, response: token })
  await anyone('POST /oid4vci/issuers/{issuerId}/nonce', { path })
  const headers = { authorization: `Bearer ${token.access_token}` }
  const proofs = { jwt: [await proveKey(setup)] }
  const issued = await anyone('POST /oid4vci/issuers/{issuerId}/credentials', {
    path,
    headers,
    body: { credential_configuration_id: 'Membership', proofs },
  })
  await anyone('POST /oid4vci/issuers/{issuerId}/notifications', {
    path,
    headers,
    body: { notification_id: issued.notification_id!, event: 'credential_accepted' },
  })
}

async function deferByOpenId(
  { acme, anyone, agent }: Cast,
  offered: { issuerId: string; issuingDID: string },
) {
  const { issuerId, issuingDID } = offered
  const path = { issuerId }
  const body = {
    credentialConfigurationId: 'Membership',
    issuingDID,
    claims: { name: 'Alice', member: 7 },
    automaticIssuance: false,
    grant: 'pre-authorized_code' as const,
  }
  const target = 'POST /oid4vci/issuers/{issuerId}/credential-offers'
  const { credentialOffer, recordId } = await acme(target, { path, body })
  const setup = { agent, issuerId, identifier: `${agent.url}/oid4vci/issuers/${issuerId}` }
  const token = (await redeemOffer(setup, credentialOffer)).body.access_token
  const proofs = { jwt: [await proveKey(setup)] }
  await request(setup, { token, body: { credential_configuration_id: 'Membership', proofs } })
  await acme('POST /issue-credentials/records/{recordId}/issue-credential', { path: { recordId } })
  await anyone('POST /oid4vci/issuers/{issuerId}/deferred-credentials', {
    path,
    headers: { authorization: `Bearer ${token}` },
    body: { transaction_id: recordId },
  })
}

/** An issuer whose authorization server is built in. */
async function authorizeByOpenId(
  { acme, anyone, alice, agent, examples }: Cast,
  { schemaId, issuingDID }: Pick<Flow, 'schemaId' | 'issuingDID'>,
) {
  const { id: issuerId } = await acme('POST /oid4vci/issuers', { body: {} })
  const path = { issuerId }
  const body = { configurationId: 'Person', format: 'jwt_vc_json' as const, schemaId }
  await acme('POST /oid4vci/issuers/{issuerId}/credential-configurations', { path, body })
  await anyone('GET /.well-known/oauth-authorization-server/oid4vci/issuers/{issuerId}', { path })
  await anyone('GET /oid4vci/issuers/{issuerId}/.well-known/oauth-authorization-server', { path })
  const { credentialOffer, txCode } = await acme('POST /oid4vci/issuers/{issuerId}/credential-offers', {
    path,
    body: {
      credentialConfigurationId: 'Person',
      issuingDID,
      claims: { name: 'Alice', member: 7 },
      grant: 'authorization_code',
    },
  })
  const setup = { agent, issuerId, identifier: `${agent.url}/oid4vci/issuers/${issuerId}` }
  const { parameters } = await requestFor(credentialOffer)
  const { body: response } = await push(setup, parameters)
  examples.set('POST /oid4vci/issuers/{issuerId}/par', { request: parameters, response })
  const page = await open(setup, { client_id: 'wallet', request_uri: response.request_uri })
  const form = { request: sealedIn(page), decision: 'accept', tx_code: txCode }
  await answer(setup, form)
  const request = { ...form, tx_code: '493536' }
  examples.set('POST /oid4vci/issuers/{issuerId}/authorize', { request })
  examples.set('POST /oid4vci/issuers/{issuerId}/presentation', { request: { request: form.request } })
  const begin = (value: 'open' | null) =>
    acme('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
      path: { issuerId, credentialConfigId: 'Person' },
      body: { issuingDID, begin: value },
    })
  await begin('open')
  const offered = await fetch(`${agent.url}/oid4vci/issuers/${issuerId}/offers/Person`)
  examples.set('GET /oid4vci/issuers/{issuerId}/offers/{configurationId}', { response: await offered.json() })
  await begin(null)
  const token = 'Zt3-0kQhXv9mJ5bA1sT7wUeYcRdF2gLnPq8iOoKjHxE'
  examples.set('POST /oid4vci/issuers/{issuerId}/revoke', { request: { token, client_id: 'wallet' } })
  await receiveByOpenId({ acme, alice }, setup, issuingDID)
  await renew(alice)
}

/** Alice's wallet receives an offer, and she consents at the issuer. */
async function receiveByOpenId(
  { acme, alice }: Pick<Cast, 'acme' | 'alice'>,
  issuer: Parameters<typeof open>[0],
  issuingDID: string,
) {
  const { credentialOffer, txCode } = await acme('POST /oid4vci/issuers/{issuerId}/credential-offers', {
    path: { issuerId: issuer.issuerId },
    body: {
      credentialConfigurationId: 'Person',
      issuingDID,
      claims: { name: 'Alice', member: 7 },
      grant: 'authorization_code',
    },
  })
  const { recordId } = await alice('POST /issue-credentials/records/openid4vci', {
    body: { credentialOffer },
  })
  const path = { recordId }
  const { openid4vci } = await alice('POST /issue-credentials/records/{recordId}/begin-authorization', {
    path,
    body: { redirectUri: 'http://127.0.0.1:49152/callback' },
  })
  const page = await open(issuer, new URL(openid4vci!.authorizationUrl!).search.slice(1))
  const { location } = await answer(issuer, { request: sealedIn(page), decision: 'accept', tx_code: txCode })
  const { code, state, iss } = Object.fromEntries(location!.searchParams) as Record<string, string>
  await alice('POST /issue-credentials/records/{recordId}/complete-authorization', {
    path,
    body: { code, state: state!, iss },
  })
}

/** Alice's wallet renews a credential of an issuer with refresh tokens. */
async function renew(alice: Client) {
  await using issuer = await startFakeIssuer()
  givesRefreshTokens(issuer)
  const { recordId } = await acceptOffer({ call: alice }, issuer.offer())
  const path = { recordId }
  await alice('POST /issue-credentials/records/{recordId}/refresh', { path, body: { copies: 5 } })
  await renewed({ call: alice }, recordId)
}

async function verify({ acme, alice, anyone }: Cast, { schemaId, issuingDID }: Flow, jwt: string) {
  const parameter = { parameterType: 'DateTimeParameter' as const, dateTime: '2099-12-31T00:00:00Z' }
  const verifications = [
    { verification: 'SignatureVerification' as const },
    { verification: 'NotBeforeCheck' as const, parameter },
  ]
  await alice('POST /verification/credential', { body: [{ credential: jwt, verifications }] })
  const body = {
    name: 'members',
    description: 'Cards of Acme',
    constraints: [{ schemaId, trustedIssuers: [issuingDID] }],
  }
  const { id, nonce } = await acme('POST /verification/policies', { body })
  await acme('PUT /verification/policies/{id}', { path: { id }, query: { nonce }, body })
  const fields = [{ path: ['$.vc.credentialSubject.member'], filter: { type: 'integer' } }]
  const asked = { name: 'Members', input_descriptors: [{ id: 'card', constraints: { fields } }] }
  const definition = await acme('POST /presentation-exchange/presentation-definitions', { body: asked })
  const path = { id: definition.id }
  await anyone('GET /presentation-exchange/presentation-definitions/{id}', { path })
  await alice('POST /presentation-exchange/presentation-definitions/{id}/evaluations', { path, body: {} })
}

async function publish({ acme, anyone, agent, examples }: Cast, apiKey: string, operationId: string) {
  const files = createFileClient(agent.url, { apikey: apiKey })
  const send = async (key: 'POST /vdr/entries' | 'PUT /vdr/entries', query: Record<string, string>) => {
    const content = Readable.from([Buffer.from('a list')], { objectMode: false })
    const response = (await files.upload(key, { query, content, length: 6 })) as { url: string }
    examples.set(key, { response })
    return response
  }
  const { url } = await send('POST /vdr/entries', { drid: 'database' })
  await send('PUT /vdr/entries', { url })
  await anyone('GET /vdr/proofs', { query: { url } })
  await anyone('GET /vdr/operations/{operationId}', { path: { operationId } })
  await acme('DELETE /vdr/entries', { query: { url } })
}

async function certify({ acme }: Cast) {
  const names = [{ type: 'uri' as const, value: 'https://issuer.example/acme' }]
  const body = { commonName: 'Acme', organization: 'Acme Ltd', country: 'DE', names }
  const { id, request } = await acme('POST /issuer-certificates', { body })
  const root = await authority('CN=Example Root')
  const chain = `${await signRequest(request!, root)}\n${pemOf(root)}`
  await acme('PUT /issuer-certificates/{id}/chain', { path: { id }, body: { chain } })
  const licences = { profile: 'mdoc' as const, commonName: 'Utopia Licences', country: 'UT' }
  const signer = await acme('POST /issuer-certificates/development', { body: licences })
  await acme('POST /issuer-certificates/{id}/revocation', { path: { id: signer.id } })
  await acme('POST /issuer-certificates/{id}/renewal', { path: { id: signer.id } })
  await acme('POST /issuer-certificates/development', { body })
}

async function signIn({ acme, alice, anyone }: Cast, { subjectId }: Dids) {
  const asked = await acme('POST /onboard/did-requests', { body: { from: 'Acme' } })
  const didRequestSubmissionId = lastPart(asked.didRequest.onboardEndpoint)
  await anyone('GET /onboard/{didRequestSubmissionId}', { path: { didRequestSubmissionId } })
  await anyone('POST /onboard/{didRequestSubmissionId}', {
    path: { didRequestSubmissionId },
    body: { did: subjectId },
  })
  const again = await acme('POST /onboard/did-requests', { body: { from: 'Acme' } })
  const { did } = await alice('POST /onboard/answers', { body: { didRequest: again.didRequest } })

  const first = await acme('POST /did-authentication/challenges', { body: { from: 'Acme' } })
  const challengeSubmissionId = lastPart(first.challenge.submissionEndpoint)
  await anyone('GET /did-authentication/challenge-submissions/{challengeSubmissionId}', {
    path: { challengeSubmissionId },
  })
  await anyone('POST /did-authentication/challenge-submissions/{challengeSubmissionId}', {
    path: { challengeSubmissionId },
    body: newHolder().answer(first.challenge.nonce),
  })
  const path = { challengeId: first.id }
  await acme('POST /did-authentication/challenges/{challengeId}/token', { path })
  const { challenge } = await acme('POST /did-authentication/challenges', { body: { from: 'Acme' } })
  const answered = { submissionEndpoint: challenge.submissionEndpoint, nonce: challenge.nonce, from: 'Acme' }
  await alice('POST /did-authentication/answers', { body: { challenge: answered, did: did! } })
  await anyone('GET /.well-known/jwks.json')
  await anyone('GET /.well-known/oauth-protected-resource')
}

async function follow({ acme, webhook }: Cast) {
  const { id } = await acme('POST /events/webhooks', { body: { url: webhook, signed: true } })
  const path = { id }
  await acme('POST /events/webhooks/{id}/test', { path, body: { type: 'ConnectionUpdated' } })
  await acme('POST /events/webhooks/{id}/replay', { path, body: { failed: true } })
  const event = await acme('POST /events/test', { body: { type: 'ConnectionUpdated' } })
  await acme('GET /events/{id}', { path: { id: event.id } })
  await acme('GET /events', { query: { limit: 1 } })
}

async function serveLedger({ anyone }: Cast) {
  const operation = (context: string) => signedCreate({ contexts: [`https://example.com/${context}`] })
  await anyone('POST /api/submissions/signed-operations', {
    body: { signed_operations: [hex(operation('a'))] },
  })
  const object = create(AtalaObjectSchema, { blockContent: { operations: [operation('b')] } })
  await anyone('GET /api/indexer-stats')
  await anyone('GET /api/_system/metadata')
  await anyone('POST /api/submissions/objects', {
    body: { object: hex(toBinary(AtalaObjectSchema, object)) },
  })
}

/** Last, because the keys of a definition are made in processes of their own, which end with the agent. */
async function defineCredentials({ acme, agent }: Cast, author: string) {
  const attributes = { name: 'ticket', version: '1.0', attrNames: ['seat'], issuerId: author }
  const anoncreds = { name: 'ticket', version: '1.0.0', type: 'AnoncredSchemaV1', author, schema: attributes }
  const ticket = await acme('POST /schema-registry/schemas', { body: anoncreds })
  const definition = {
    name: 'ticket',
    version: '1.0.0',
    tag: 'default',
    author,
    schemaId: `${agent.url}/schema-registry/schemas/${ticket.guid}/schema`,
    signatureType: 'CL' as const,
    supportRevocation: false,
  }
  const headers = { prefer: 'respond-async' }
  await acme('POST /credential-definition-registry/definitions', { body: definition, headers })
  await acme('GET /credential-definition-registry/definitions', {})
  await acme('POST /credential-definition-registry/definitions/did-url', { body: definition, headers })
  await acme('GET /credential-definition-registry/definitions/did-url', {})
}

/** Runs the story. Returns the example of each operation that it calls, and the names to replace in them. */
export async function tell(agent: TestAgent, webhook: string, backups: string) {
  const examples = new Map<string, Example>()
  const [acme, alice] = [await agent.newTenant('Acme'), await agent.newTenant('Alice')]
  const as = (call: Client) => recording(call, examples)
  const anyone = createClient(agent.url)
  const cast = {
    agent,
    admin: as(agent.admin),
    anyone: as(anyone),
    acme: as(acme.call),
    alice: as(alice.call),
    webhook,
    backups,
    examples,
  }
  await administer(cast)
  const dids = await makeDids(cast)
  const connectionId = await connect(cast)
  const schemaId = await publishSchemas(cast, dids.issuingDID)
  const flow = { ...dids, connectionId, schemaId }
  const { recordId, issuedId, jwt } = await issue(cast, flow)
  await prove(cast, flow, recordId)
  await proveByOpenId(cast)
  await offerByOpenId(cast, flow)
  await verify(cast, flow, jwt)
  await cast.acme('PATCH /credential-status/revoke-credential/{id}', { path: { id: issuedId } })
  await publish(cast, acme.apiKey, dids.publication)
  await addPicture(cast, acme.apiKey)
  await certify(cast)
  await signIn(cast, dids)
  await follow(cast)
  await serveLedger(cast)
  await defineCredentials(cast, dids.issuingDID)
  const ofKey = { method: 'jwk' as const, documentTemplate: {} }
  const { longFormDid: keyDid } = await cast.acme('POST /did-registrar/dids', { body: ofKey })
  await cast.acme('POST /did-registrar/restorations', { body: { dids: [keyDid] } })
  const path = { didRef: dids.issuingDID }
  await cast.acme('POST /did-registrar/dids/{didRef}/deactivations', { path })
  await callRest({ admin: cast.admin, tenant: cast.acme }, examples)
  return examples
}
