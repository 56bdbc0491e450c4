/** Issuers and holders with a did:web whose host fails, is gone or recovers. */
import { createHash, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { generateKey, toPublic } from '../../src/foundation/crypto/keys.ts'
import { issueJwtVc } from '../../src/credentials/codecs/jwt-vc.ts'
import { createJwtVp } from '../../src/credentials/codecs/jwt-vp.ts'
import { sharedAgent, startAgent } from '../support/agent.ts'
import { connect, credentialIn, newDid, presentationIn, until, type Tenant } from '../support/tenants.ts'
import { openParty, post, recipientOf, typesOf, type Party } from '../support/party.ts'
import { startServer } from '../support/server.ts'
import { acceptOfferWith, prove, requestProof } from './_steps.ts'

/** A did:web with one key, served with a status that the test sets. */
async function openWeb() {
  const key = generateKey('Ed25519')
  const web = { key, did: '', status: 200, asked: 0 }
  const server = await startServer((_, response) => {
    web.asked++
    const id = '#key-1'
    const method = { id, type: 'JsonWebKey2020', controller: web.did, publicKeyJwk: toPublic(key) }
    const document = {
      id: web.did,
      verificationMethod: [method],
      authentication: [id],
      assertionMethod: [id],
    }
    response.writeHead(web.status).end(web.status === 200 ? JSON.stringify(document) : 'trouble')
  })
  web.did = `did:web:localhost%3A${server.port}`
  return Object.assign(web, { [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() })
}

// No caching, so that each resolution requests the host.
const startFresh = () => startAgent({ DID_CACHE_LIFETIME: '0' })

const options = { challenge: randomUUID(), domain: 'https://issuer.example' }
const challenge = () => ({
  id: randomUUID(),
  media_type: 'application/json',
  format: 'prism/jwt',
  data: { json: { options, presentation_definition: { id: randomUUID(), input_descriptors: [] } } },
})
const token = (jwt: string) => [
  { id: randomUUID(), data: { base64: Buffer.from(jwt).toString('base64url') } },
]
const nowSeconds = () => Math.floor(Date.now() / 1_000)

/** Offers a credential to a tenant, which accepts it. Returns the ids and `send` for the credential. */
async function offerTo(party: Party, holder: Tenant, web: Awaited<ReturnType<typeof openWeb>>) {
  const { theirDid } = await party.connect(holder)
  const thid = randomUUID()
  const preview = { credential_preview: { body: { attributes: [{ name: 'name', value: 'Alice' }] } } }
  await party.send(theirDid, { type: typesOf.offer, thid, body: preview, attachments: [challenge()] })
  const { recordId } = await credentialIn(holder.call, thid, 'OfferReceived')
  const subject = await newDid(holder, 'authentication')
  await acceptOfferWith(holder, recordId, { subjectId: subject.did })
  await party.next(typesOf.credentialRequest)
  await credentialIn(holder.call, thid, 'RequestSent')
  const content = {
    issuerDid: web.did,
    issuerKey: web.key,
    subjectDid: subject.longFormDid,
    claims: { name: 'Alice' },
    schemas: [],
  }
  const message = {
    id: randomUUID(),
    type: typesOf.credential,
    thid,
    attachments: token(issueJwtVc({ ...content, now: nowSeconds() })),
  }
  return { thid, recordId, send: () => party.send(theirDid, message) }
}

test('an outage of the issuer’s host fails neither the credential nor the presentation: both continue after it', async () => {
  await using web = await openWeb()
  await using party = await openParty()
  await using holding = await startFresh()
  await using verifying = await startFresh()
  const [holder, verifier] = [await holding.newTenant('holder'), await verifying.newTenant('verifier')]
  const { thid: issued, recordId, send } = await offerTo(party, holder, web)
  web.status = 502
  expect(await send()).toMatchObject({ status: 503 })
  expect(await credentialIn(holder.call, issued, 'RequestSent')).not.toHaveProperty('metaLastFailure')
  web.status = 200
  expect((await send()).status).toBe(200)
  await credentialIn(holder.call, issued, 'CredentialReceived')

  web.status = 502
  const { inviterConnectionId: connectionId } = await connect(verifier, holder)
  const { thid, presentationId } = await requestProof(verifier, holder, { connectionId, proofs: [] })
  const askedBefore = web.asked
  await prove(holder, presentationId, recordId)
  await until(
    'two attempts',
    async () => web.asked,
    (asked) => asked >= askedBefore + 2,
  )
  expect(await presentationIn(verifier.call, thid, 'RequestSent')).toMatchObject({ data: [] })
  web.status = 200
  expect(await presentationIn(verifier.call, thid, 'PresentationVerified')).not.toHaveProperty(
    'metaLastFailure',
  )
  await presentationIn(holder.call, thid, 'PresentationSent')
})

test('an issuer whose DID no longer resolves fails the presentation, and the prover gets a report', async () => {
  await using web = await openWeb()
  await using party = await openParty()
  await using agent = await startFresh()
  const [holder, verifier] = [await agent.newTenant('holder'), await agent.newTenant('verifier')]
  const { recordId, send } = await offerTo(party, holder, web)
  expect((await send()).status).toBe(200)
  web.status = 404
  const { inviterConnectionId: connectionId } = await connect(verifier, holder)
  const { thid } = await verifier.call('POST /present-proof/presentations', {
    body: { connectionId, proofs: [] },
  })
  const { presentationId: id } = await presentationIn(holder.call, thid, 'RequestReceived')
  await prove(holder, id, recordId)
  const { metaLastFailure } = await presentationIn(verifier.call, thid, 'PresentationVerificationFailed')
  expect(metaLastFailure?.detail).toContain(web.did)
  await presentationIn(holder.call, thid, 'ProblemReportReceived')
})

test('a holder with a did:web gets its credential by a repeated request after an outage of the host', async () => {
  await using web = await openWeb()
  await using party = await openParty()
  await using agent = await startFresh()
  const issuer = await agent.newTenant('issuer')
  const { connectionId, theirDid } = await party.connect(issuer)
  const { did: issuingDID } = await newDid(issuer, 'assertionMethod')
  const offer = { connectionId, issuingDID, claims: { name: 'Bob' }, automaticIssuance: true }
  const { thid } = await issuer.call('POST /issue-credentials/credential-offers', { body: offer })
  const offered = await party.next(typesOf.offer)
  const { options: asked } = (offered.attachments![0]!.data as { json: { options: typeof options } }).json
  const proof = createJwtVp({
    holderDid: web.did,
    holderKey: web.key,
    audience: asked.domain,
    nonce: asked.challenge,
    credentials: [],
  })
  const request = { id: randomUUID(), type: typesOf.credentialRequest, thid, attachments: token(proof) }
  await credentialIn(issuer.call, thid, 'OfferSent')
  web.status = 503
  expect(await party.send(theirDid, request)).toMatchObject({ status: 503 })
  expect((await credentialIn(issuer.call, thid, 'OfferSent')).metaLastFailure).toBeUndefined()
  web.status = 200
  expect((await party.send(theirDid, request)).status).toBe(200)
  const { attachments } = await party.next(typesOf.credential)
  const [, payload] = Buffer.from((attachments![0]!.data as { base64: string }).base64, 'base64url')
    .toString()
    .split('.')
  expect(JSON.parse(Buffer.from(payload!, 'base64url').toString())).toMatchObject({
    sub: web.did,
    iss: issuingDID,
  })
})

test('a message from a did:web does not make the agent request its host', async () => {
  await using web = await openWeb()
  await using party = await openParty()
  const agent = await sharedAgent({ AGENT_MEDIATOR: 'true' })
  const tenant = await agent.newTenant('tenant')
  const { theirDid } = await party.connect(tenant)
  const skid = `${web.did}#key-1`
  /** An envelope from the party with the did:web as sender, for a key of the agent or any other. */
  const forged = (to: string, kid = recipientOf(to).kid) => {
    const envelope = JSON.parse(party.pack(to, { type: typesOf.offer })) as {
      protected: string
      recipients: object[]
    }
    const header = JSON.parse(Buffer.from(envelope.protected, 'base64url').toString()) as object
    const apv = createHash('sha256').update(kid).digest('base64url')
    const changed = { ...header, skid, apu: Buffer.from(skid).toString('base64url'), apv }
    const recipients = envelope.recipients.map((recipient) => ({ ...recipient, header: { kid } }))
    return JSON.stringify({
      ...envelope,
      protected: Buffer.from(JSON.stringify(changed)).toString('base64url'),
      recipients,
    })
  }
  for (const envelope of [forged(theirDid), forged(theirDid, skid), forged(agent.agent.mediator!.did)]) {
    const { status, detail } = await post(agent.didcommUrl, envelope)
    expect(status, detail).toBe(422)
    expect(detail).toMatch(/did:peer can|No wallet/)
  }
  expect(web.asked).toBe(0)
})
