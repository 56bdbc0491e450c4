/** Malformed requests and messages are refused with a reason, never with a 500, and leave no trace. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { base64Attachment, jsonAttachment, type Attachment } from '../../src/exchange/didcomm/message.ts'
import { decode, encode } from '../support/invitation.ts'
import { newDid, refusal, startPair } from '../support/tenants.ts'
import { openParty, typesOf } from '../support/party.ts'
import { expectRefusal, prove, requestProof, startWithCredential } from './_steps.ts'

const options = { options: { challenge: randomUUID(), domain: 'domain' } }
const challenge = (): Attachment => jsonAttachment(randomUUID(), options, 'prism/jwt')
const token = (): Attachment => base64Attachment(randomUUID(), Buffer.from('a.b.c'), 'prism/jwt')
const offerOf = (attributes: object[]) => ({ credential_preview: { body: { attributes } } })
const attributesOf = (claims: string) => [
  { name: 'a', value: Buffer.from(claims).toString('base64url'), media_type: 'application/json' },
]

test('a message with no token, or with two, is refused', async () => {
  await using pair = await startPair()
  await using party = await openParty()
  const { connectionId, theirDid } = await party.connect(pair.issuer)
  const { did: issuingDID } = await newDid(pair.issuer, 'assertionMethod')
  const { thid } = await pair.issuer.call('POST /issue-credentials/credential-offers', {
    body: { connectionId, issuingDID, claims: { a: 1 } },
  })
  const offer = await party.send(theirDid, {
    type: typesOf.offer,
    thid: 'offered',
    body: offerOf([]),
    attachments: [challenge()],
  })
  expect(offer.status).toBe(200)
  for (const attachments of [[], [token(), token()], [challenge()]]) {
    for (const type of [typesOf.credentialRequest, typesOf.credential]) {
      const answer = await party.send(theirDid, {
        type,
        thid: type === typesOf.credential ? 'offered' : thid,
        attachments,
      })
      expect(answer.status, `${type} ${attachments.length}`).toBe(400)
    }
  }
})

test('a claim that would name the prototype is refused, not dropped', async () => {
  await using pair = await startPair()
  await using party = await openParty()
  const { connectionId, theirDid } = await party.connect(pair.issuer)
  const { did: issuingDID } = await newDid(pair.issuer, 'assertionMethod')
  for (const claims of ['{"__proto__":{"admin":true}}', '{"a":[{"__proto__":1}]}']) {
    for (const body of [
      `{"connectionId":"${connectionId}","issuingDID":"${issuingDID}","claims":${claims}}`,
      `{"connectionId":"${connectionId}","jwtVcPropertiesV1":{"issuingDID":"${issuingDID}","claims":${claims}}}`,
    ]) {
      const answer = await pair.agent.send('POST', '/issue-credentials/credential-offers', {
        headers: { apikey: pair.issuer.apiKey },
        body,
      })
      expect(answer.status).toBe(400)
    }
    const offer = await party.send(theirDid, {
      type: typesOf.offer,
      body: offerOf(attributesOf(claims)),
      attachments: [challenge()],
    })
    expect(offer).toEqual({ status: 400, detail: expect.stringContaining('__proto__') })
  }
  const named = [{ name: '__proto__', value: 'x' }]
  expect(
    (await party.send(theirDid, { type: typesOf.offer, body: offerOf(named), attachments: [challenge()] }))
      .status,
  ).toBe(400)
  const odd = { constructor: 1, toString: 'x', hasOwnProperty: null, '': [{}], ключ: { valueOf: 2 } }
  const made = await pair.issuer.call('POST /issue-credentials/credential-offers', {
    body: { connectionId, issuingDID, claims: odd },
  })
  expect(made.claims).toEqual(odd)
})

test('oversized lists are refused', async () => {
  await using pair = await startWithCredential()
  const { connectionId, issuingDID } = pair
  const schemaId = Array.from({ length: 1_000 }, (_, n) => `http://127.0.0.1:1/${n}`)
  const offer = pair.issuer.call('POST /issue-credentials/credential-offers', {
    body: { connectionId, issuingDID, claims: {}, schemaId },
  })
  await expectRefusal(offer, 400, 'schemaId')

  const { presentationId } = await requestProof(pair.issuer, pair.holder, { connectionId })
  const proofId = Array.from({ length: 10_000 }, (_, n) => `${n}`)
  const accepted = prove(pair.holder, presentationId, ...proofId)
  await expectRefusal(accepted, 400, 'proofId')
})

test('an invitation with a negative expiry or an invalid sender is refused', async () => {
  await using pair = await startPair()
  const made = await pair.issuer.call('POST /connections', { body: {} })
  const invitation = { ...decode(made), expires_time: -1e300 }
  const text = encode(invitation)
  expect(
    (await refusal(pair.holder.call('POST /connection-invitations', { body: { invitation: text } }))).status,
  ).toBe(400)
  for (const from of [
    'did:web:example.com',
    'did:example:1',
    'did:peer:2',
    'did:peer:9zzz',
    'did:prism:00',
    '',
  ]) {
    const foreign = encode({ ...invitation, expires_time: undefined, from })
    const { status } = await refusal(
      pair.holder.call('POST /connection-invitations', { body: { invitation: foreign } }),
    )
    expect(status, from).toBeGreaterThanOrEqual(400)
    expect(status, from).toBeLessThan(500)
  }
})

test('contradictory DID templates are refused', async () => {
  await using pair = await startPair()
  const key = { id: 'key-1', purpose: 'authentication' }
  const service = { id: 'one', type: 'x', serviceEndpoint: 'https://example.com' }
  const templates: object[] = [
    { publicKeys: [key, key] },
    { publicKeys: [key], internalKeys: [{ id: 'key-1', purpose: 'vdr' }] },
    { publicKeys: [{ ...key, id: 'master0' }] },
    { publicKeys: [{ ...key, id: 'a b' }] },
    { publicKeys: [{ ...key, id: '#' }] },
    { publicKeys: [{ ...key, id: 'x'.repeat(10_000) }] },
    { publicKeys: [{ ...key, curve: 'X25519' }] },
    { services: [service, service] },
    { services: [{ ...service, serviceEndpoint: 'x'.repeat(10_000) }] },
    { services: [{ ...service, serviceEndpoint: {} }] },
    { services: [{ ...service, serviceEndpoint: [] }] },
    { services: [{ ...service, type: ['x', 'x'] }] },
    { contexts: ['x', 'x'] },
    { contexts: [''] },
  ]
  for (const template of templates) {
    const answer = await pair.agent.send('POST', '/did-registrar/dids', {
      headers: { apikey: pair.issuer.apiKey },
      body: JSON.stringify({ documentTemplate: template }),
    })
    expect(answer.status, JSON.stringify(template).slice(0, 100)).toBeLessThan(500)
  }
})

test('concurrently created DIDs all succeed, each with its own index', async () => {
  await using pair = await startPair()
  const dids = await Promise.all(
    Array.from({ length: 60 }, () =>
      pair.issuer.call('POST /did-registrar/dids', {
        body: { documentTemplate: { publicKeys: [{ id: 'k', purpose: 'authentication' }] } },
      }),
    ),
  )
  expect(new Set(dids.map(({ longFormDid }) => longFormDid)).size).toBe(60)
  expect((await pair.issuer.call('GET /did-registrar/dids')).contents).toHaveLength(60)
})
