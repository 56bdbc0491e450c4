/** Issuing JWT credentials over a connection. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { decodeJws } from '../../src/credentials/codecs/jws.ts'
import { testOnSqlite } from '../support/on-sqlite.ts'
import { startServer } from '../support/server.ts'
import {
  connect,
  credentialIn,
  issue,
  newDid,
  refusal,
  startPair,
  publishSchema,
} from '../support/tenants.ts'
import { expectRefusal, acceptOfferWith, issueRequested, startConnected } from './_steps.ts'

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
}

test.each([
  ['secp256k1', 'ES256K'],
  ['Ed25519', 'EdDSA'],
] as const)('a credential signed on %s has the claims of the wire to the letter', async (curve, alg) => {
  await using pair = await startConnected({}, curve)
  const { issuingDID, subject } = pair
  const claims = { name: 'Ärger', age: 42, nested: { list: [1, null, 'x'] }, flag: true }
  const before = Math.floor(Date.now() / 1_000)
  const { credential } = await pair.toHolder(claims)
  const { header, payload } = decodeJws(credential)
  expect(header).toEqual({ typ: 'JWT', alg })
  expect(payload).toEqual({
    iss: issuingDID,
    sub: subject.longFormDid,
    nbf: expect.any(Number),
    vc: {
      '@context': ['https://www.w3.org/2018/credentials/v1'],
      type: ['VerifiableCredential'],
      credentialSubject: { ...claims, id: subject.longFormDid },
      issuer: { id: issuingDID, type: 'Profile' },
      credentialStatus: {
        id: expect.stringMatching(/^http.*\/credential-status\/\w+#\d+$/),
        type: 'StatusList2021Entry',
        statusPurpose: 'Revocation',
        statusListIndex: expect.any(Number),
        statusListCredential: expect.stringMatching(/^http.*\/credential-status\/\w+$/),
      },
    },
  })
  expect(payload.nbf).toBeGreaterThanOrEqual(before)
})

testOnSqlite('a credential has the requested validity, signing key and schema', async () => {
  await using pair = await startConnected()
  const { connectionId, issuingDID, subject } = pair
  const schemaId = await publishSchema(pair.issuer, issuingDID, schema)
  const offer = await pair.issuer.call('POST /issue-credentials/credential-offers', {
    body: {
      connectionId,
      automaticIssuance: true,
      jwtVcPropertiesV1: {
        issuingDID,
        claims: { name: 'Alice', age: 42 },
        credentialSchema: { id: schemaId },
        issuingKid: 'key-1',
        validityPeriod: 3_600,
      },
    },
  })
  expect(offer).toMatchObject({
    protocolState: 'OfferPending',
    role: 'Issuer',
    automaticIssuance: true,
    validityPeriod: 3_600,
    credentialFormat: 'JWT',
    issuingDID,
  })
  const { recordId } = await credentialIn(pair.holder.call, offer.thid, 'OfferReceived')
  await acceptOfferWith(pair.holder, recordId, { subjectId: subject.longFormDid, keyId: 'key-1' })
  const { credential } = await credentialIn(pair.holder.call, offer.thid, 'CredentialReceived')
  const { header, payload } = decodeJws(Buffer.from(credential!, 'base64url').toString())
  expect(header.kid).toBe('key-1')
  expect(Number(payload.exp) - Number(payload.nbf)).toBe(3_600)
  expect(payload.vc).toMatchObject({ credentialSchema: [{ id: schemaId, type: 'CredentialSchema2022' }] })
  expect((await credentialIn(pair.issuer.call, offer.thid, 'CredentialSent')).credential).toBe(credential)
})

testOnSqlite(
  'claims that violate the schema are refused with every violation, and no record is created',
  async () => {
    await using pair = await startPair()
    const { inviterConnectionId: connectionId } = await connect(pair.issuer, pair.holder)
    const { did: issuingDID } = await newDid(pair.issuer, 'assertionMethod')
    await using server = await startServer((_request, response) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(schema)),
    )
    const schemaId = `${server.url}/person`
    const offer = (claims: object, id: string | string[] = schemaId) =>
      pair.issuer.call('POST /issue-credentials/credential-offers', {
        body: { connectionId, issuingDID, claims: claims as never, schemaId: id },
      })

    const misfit = await refusal(offer({ name: 1, surname: 'x' }))
    expect(misfit).toMatchObject({
      status: 422,
      type: 'error:CredentialSchemaError:CredentialSchemaValidationError',
    })
    for (const word of ['name', 'age', 'surname']) expect(misfit.detail).toContain(word)
    expect((await refusal(offer({ name: 'x', age: 1 }, 'http://127.0.0.1:1/nowhere'))).status).toBe(422)
    expect((await pair.issuer.call('GET /issue-credentials/records')).contents).toEqual([])
    expect((await offer({ name: 'x', age: 1 }, [schemaId])).protocolState).toBe('OfferPending')
  },
)

testOnSqlite('an incomplete offer is refused with the missing and the invalid fields', async () => {
  await using pair = await startPair()
  const { inviterConnectionId: connectionId } = await connect(pair.issuer, pair.holder)
  const [issuer, other] = [
    await newDid(pair.issuer, 'assertionMethod'),
    await newDid(pair.issuer, 'authentication'),
  ]
  const foreign = await newDid(pair.holder, 'assertionMethod')
  const good = { connectionId, issuingDID: issuer.did, claims: { a: 1 } }
  const cases: [object, number, RegExp][] = [
    [{ ...good, claims: undefined }, 400, /claims/],
    [{ ...good, issuingDID: undefined }, 400, /issuingDID/],
    [{ ...good, connectionId: undefined }, 400, /connectionId/],
    [{ ...good, claims: [1] }, 400, /claims/],
    [{ ...good, credentialFormat: 'Paper' }, 400, /credentialFormat/],
    [{ ...good, validityPeriod: -1 }, 400, /validityPeriod/],
    [{ ...good, connectionId: randomUUID() }, 404, /does not exist/],
    [{ ...good, issuingDID: foreign.did }, 400, /not in this wallet/],
    [{ ...good, issuingDID: 'did:web:example.com' }, 400, /not in this wallet/],
    [{ ...good, issuingDID: 'did:key:z6Mk' }, 400, /not in this wallet/],
    [{ ...good, issuingDID: 'did:ion:abc' }, 400, /did:prism/],
    [{ ...good, issuingDID: other.did }, 400, /AssertionMethod key not found/],
    [{ ...good, issuingKid: 'key-9' }, 400, /key-9/],
    [
      { ...good, connectionId: (await pair.issuer.call('POST /connections', { body: {} })).connectionId },
      400,
      /InvitationGenerated.*ConnectionResponseSent/,
    ],
  ]
  for (const [body, status, detail] of cases) {
    const problem = await refusal(
      pair.issuer.call('POST /issue-credentials/credential-offers', { body: body as never }),
    )
    expect([problem.status, problem.detail], JSON.stringify(body)).toEqual([
      status,
      expect.stringMatching(detail),
    ])
  }
  expect((await pair.issuer.call('GET /issue-credentials/records')).contents).toEqual([])
})

test('an action in the wrong state is refused with the valid states; a repeated action has one effect', async () => {
  await using pair = await startConnected()
  const { connectionId, issuingDID, subject } = pair
  const { thid, recordId } = await pair.issuer.call('POST /issue-credentials/credential-offers', {
    body: { connectionId, issuingDID, claims: { a: 1 } },
  })
  const issueIt = () => issueRequested(pair.issuer, recordId)
  await credentialIn(pair.issuer.call, thid, 'OfferSent')
  await expectRefusal(issueIt(), 400, /OfferSent.*RequestReceived/)

  const { recordId: holderRecordId } = await credentialIn(pair.holder.call, thid, 'OfferReceived')
  const accept = (subjectId: string, call = pair.holder.call, id = holderRecordId) =>
    call('POST /issue-credentials/records/{recordId}/accept-offer', {
      path: { recordId: id },
      body: { subjectId },
    })
  expect(await refusal(accept(issuingDID))).toMatchObject({
    detail: expect.stringContaining('not in this wallet'),
  })
  await expectRefusal(accept(issuingDID, pair.issuer.call, recordId), 400, 'Issuer')
  expect(await refusal(accept(subject.did, pair.issuer.call, holderRecordId))).toMatchObject({ status: 404 })
  await Promise.all([accept(subject.did), accept(subject.did), accept(subject.longFormDid)])
  await credentialIn(pair.issuer.call, thid, 'RequestReceived')
  await Promise.all([issueIt(), issueIt(), issueIt()])
  await credentialIn(pair.holder.call, thid, 'CredentialReceived')
  await accept(subject.did)
  await issueIt()
  expect((await pair.holder.call('GET /issue-credentials/records')).contents).toHaveLength(1)
})

testOnSqlite('a credential of an unpublished issuer has the long-form DID and can be verified', async () => {
  await using pair = await startPair()
  const { inviterConnectionId } = await connect(pair.issuer, pair.holder)
  const template = { publicKeys: [{ id: 'key-1', purpose: 'assertionMethod' as const }] }
  const { longFormDid } = await pair.issuer.call('POST /did-registrar/dids', {
    body: { documentTemplate: template },
  })
  const subject = await newDid(pair.holder, 'authentication')
  const { credential } = await issue(pair.issuer, pair.holder, inviterConnectionId, longFormDid, subject.did)
  expect(decodeJws(credential).payload.iss).toBe(longFormDid)
})
