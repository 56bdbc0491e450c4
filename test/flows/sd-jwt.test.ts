/** Issuing and presenting SD-JWT credentials. */
import { beforeAll, describe, expect, test } from 'vitest'
import { presentSdJwt } from '../credentials/codecs/_present.ts'
import { anyCredential, decodeSdJwt } from '../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { startAgent } from '../support/agent.ts'
import { decode, acceptOfferInvitation, acceptRequestInvitation } from '../support/invitation.ts'
import {
  connect,
  credentialIn,
  issue,
  newDid,
  oobOf,
  presentationIn,
  refusal,
  publishSchema,
} from '../support/tenants.ts'
import { openParty, typesOf } from '../support/party.ts'
import { askSdJwt, issueSdJwtTo, personClaims as claims } from './_sd-jwt.ts'
import { expectRefusal, acceptOfferWith, actOnProof, prove } from './_steps.ts'
import { untilEnd } from '../support/shared.ts'

const agent = await untilEnd(startAgent())
const issuer = await agent.newTenant('issuer')
const holder = await agent.newTenant('holder')
const connectionId = (await connect(issuer, holder)).inviterConnectionId
const { did: issuingDID } = await newDid(issuer, 'assertionMethod', 'Ed25519')
const { did: subjectId } = await newDid(holder, 'authentication', 'Ed25519')
const holding = { issuer, holder, connectionId, issuingDID, subjectId }

const ownKey = {
  publicKeys: [
    { id: 'other', purpose: 'assertionMethod' },
    { id: 'signs', purpose: 'assertionMethod', curve: 'Ed25519' },
  ],
}

describe('an issued credential', () => {
  test.each([
    ['bound to the key that the holder names', 'key-1'],
    ['bound to the key that the holder names by its DID URL', 'did:example:any#key-1'],
    ['bound to no key when the holder names none', undefined],
  ])('is %s', async (_, keyId) => {
    const before = Math.floor(Date.now() / 1_000)
    const { credential, thid } = await issueSdJwtTo(holding, { ...(keyId !== undefined && { keyId }) })
    const { jws, claims: read, holderKey } = decodeSdJwt(credential)
    const { longFormDid } = await holder.call('GET /did-registrar/dids/{didRef}', {
      path: { didRef: holding.subjectId },
    })
    expect(jws.header).toEqual({ typ: 'vc+sd-jwt', alg: 'EdDSA' })
    expect(jws.payload).toEqual({
      _sd: expect.any(Array),
      _sd_alg: 'sha-256',
      iss: holding.issuingDID,
      sub: longFormDid,
      iat: expect.any(Number),
      exp: Number(jws.payload['iat']) + 2_592_000,
      vct: anyCredential,
      credentialStatus: expect.objectContaining({ type: 'StatusList2021Entry' }),
      ...(keyId !== undefined && { cnf: { jwk: expect.objectContaining({ crv: 'Ed25519' }) } }),
    })
    expect(jws.payload['iat']).toBeGreaterThanOrEqual(before)
    expect([read, holderKey !== undefined]).toEqual([claims, keyId !== undefined])
    const records = [
      await credentialIn(issuer.call, thid, 'CredentialSent'),
      await credentialIn(holder.call, thid, 'CredentialReceived'),
    ]
    for (const record of records)
      expect(record).toMatchObject({ credentialFormat: 'SDJWT', claims, credential: records[0]!.credential })
  })

  test('is signed with Ed25519 if possible, and has the type of its schema, the offered expiry and the requested key', async () => {
    const { longFormDid } = await issuer.call('POST /did-registrar/dids', {
      body: { documentTemplate: ownKey as never },
    })
    const schemaId = await publishSchema(issuer, holding.issuingDID, { properties: {} })
    const exp = Math.floor(Date.now() / 1_000) + 77
    const first = decodeSdJwt(
      (await issueSdJwtTo({ ...holding, issuingDID: longFormDid }, { schemaId, validityPeriod: 99 }))
        .credential,
    )
    expect(first.jws.header).toEqual({ typ: 'vc+sd-jwt', alg: 'EdDSA' })
    expect(first).toMatchObject({ vct: schemaId, issuerDid: longFormDid, validUntil: first.validFrom! + 99 })

    const { thid } = await issuer.call('POST /issue-credentials/credential-offers', {
      body: {
        connectionId,
        automaticIssuance: true,
        sdJwtVcPropertiesV1: { issuingDID: longFormDid, issuingKid: 'other', claims: { a: 1, exp } },
      },
    })
    const { recordId } = await credentialIn(holder.call, thid, 'OfferReceived')
    await acceptOfferWith(holder, recordId, { subjectId: holding.subjectId })
    const { credential } = await credentialIn(holder.call, thid, 'CredentialReceived')
    const second = decodeSdJwt(Buffer.from(credential!, 'base64url').toString())
    expect(second.jws.header).toEqual({ typ: 'vc+sd-jwt', alg: 'ES256K', kid: `${longFormDid}#other` })
    expect(second).toMatchObject({ claims: { a: 1 }, validUntil: exp })
  })

  test('has the attachments of the Cloud Agent in offer and request, and can be offered in an invitation', async () => {
    const offer = await issuer.call('POST /issue-credentials/credential-offers/invitation', {
      body: { credentialFormat: 'SDJWT', issuingDID: holding.issuingDID, claims, automaticIssuance: true },
    })
    const [{ format, data }] = decode(offer).attachments[0].data.json.attachments
    expect([format, data.json.options.domain]).toEqual(['vc+sd-jwt', 'default-domain'])
    const { recordId } = await acceptOfferInvitation(holder, oobOf(offer))
    await acceptOfferWith(holder, recordId, { subjectId: holding.subjectId, keyId: 'key-1' })
    await credentialIn(holder.call, offer.thid, 'CredentialReceived')

    const options = { challenge: 'of this test', domain: 'https://verifier.example' }
    const asked = await issuer.call('POST /present-proof/presentations/invitation', {
      body: { presentationFormat: 'SDJWT', claims: { age: '{}' }, options },
    })
    const [attachment] = decode(asked).attachments[0].data.json.attachments
    expect(attachment.format).toBe('vc+sd-jwt')
    expect(JSON.parse(Buffer.from(attachment.data.base64, 'base64url').toString())).toEqual({
      options,
      claims: { age: '{}' },
    })
    const { presentationId } = await acceptRequestInvitation(holder, oobOf(asked))
    await prove(holder, presentationId, recordId)
    const { disclosedClaims } = await presentationIn(issuer.call, asked.thid, 'PresentationVerified')
    expect(disclosedClaims).toEqual({ age: 42 })
  })
})

describe('an offer', () => {
  const good = () => ({
    connectionId,
    issuingDID: holding.issuingDID,
    claims: { a: 1 } as Record<string, any>,
    credentialFormat: 'SDJWT',
  })
  const properties = () => ({ issuingDID: holding.issuingDID, claims: { a: 1 } })
  const cases: [string, () => object, RegExp][] = [
    ...['iss', 'sub', 'iat', 'nbf', 'cnf', 'vct', 'status', 'credentialStatus', '_sd', '_sd_alg', '...'].map(
      (name): [string, () => object, RegExp] => [
        `that claims ${name}`,
        () => ({ claims: { [name]: 1 } }),
        new RegExp(`claims\\.${name.replaceAll('.', '\\.')}:`),
      ],
    ),
    ['that claims _sd below', () => ({ claims: { a: [{ b: { _sd: 1 } }] } }), /claims\.a\.0\.b\._sd:/],
    ['that has ended', () => ({ claims: { exp: 1 } }), /claims\.exp:/],
    ['that ends in words', () => ({ claims: { exp: 'tomorrow' } }), /claims\.exp:/],
    [
      'with two expiries',
      () => ({ claims: { exp: 4_000_000_000 }, validityPeriod: 9 }),
      /claims\.exp and validityPeriod/,
    ],
    [
      'of two schemas',
      () => ({ schemaId: ['https://a.example/1', 'https://a.example/2'] }),
      /schemaId: .* not 2/,
    ],
    [
      'with fields of another format',
      () => ({ jwtVcPropertiesV1: properties() }),
      /jwtVcPropertiesV1: is not for the format SDJWT/,
    ],
    [
      'in two formats',
      () => ({ credentialFormat: 'JWT', sdJwtVcPropertiesV1: properties() }),
      /sdJwtVcPropertiesV1: is not for the format JWT/,
    ],
  ]
  test.each(cases)('%s is refused', async (_, change, detail) => {
    const body = { ...good(), ...change() } as never
    const problem = await refusal(issuer.call('POST /issue-credentials/credential-offers', { body }))
    expect(problem).toMatchObject({ status: 400, detail: expect.stringMatching(detail) })
  })
})

describe('a presentation', () => {
  let [bound, unbound]: Awaited<ReturnType<typeof issueSdJwtTo>>[] = []
  beforeAll(async () => {
    bound = await issueSdJwtTo(holding, { keyId: 'key-1' })
    unbound = await issueSdJwtTo(holding)
  })
  const wanted = { name: '{}', address: { city: '{}' } }
  const asked = { name: claims.name, address: { city: 'Bern' } }
  const cases: [string, object | undefined, object | undefined, object][] = [
    ['what was asked for', wanted, undefined, asked],
    [
      'the requested claims and those that the prover adds',
      wanted,
      { ...wanted, degrees: { 1: { year: '' } } },
      { ...asked, degrees: [{ year: 2020 }] },
    ],
    ['nothing, when nothing is asked for', undefined, undefined, {}],
    ['what the prover names, when nothing is asked for', undefined, { age: true }, { age: 42 }],
    ['a claim with all that is in it', { address: 1 }, undefined, { address: claims.address }],
  ]
  test.each(cases.flatMap((row) => [[true, ...row] as const, [false, ...row] as const]))(
    'bound: %s, is %s',
    async (isBound, _, toShow, named, shown) => {
      const { recordId } = (isBound ? bound : unbound)!
      const { thid, accept } = await askSdJwt(issuer, holder, {
        connectionId,
        ...(toShow && { claims: toShow as never }),
      })
      await accept({ proofId: [recordId], ...(named && { claims: named as never }) })
      const { data, disclosedClaims } = await presentationIn(issuer.call, thid, 'PresentationVerified')
      expect(disclosedClaims).toEqual(shown)
      const presented = decodeSdJwt(data[0]!)
      expect([presented.claims, presented.keyBinding !== undefined]).toEqual([shown, isBound])
      const prover = await presentationIn(holder.call, thid, 'PresentationSent')
      expect(prover).toMatchObject({ data })
      expect(prover).not.toHaveProperty('disclosedClaims')
    },
  )

  test('must have all requested claims, an accepted schema and an accepted issuer', async () => {
    const { did: other } = await newDid(issuer, 'assertionMethod', 'Ed25519')
    const refused: [object, object | undefined, RegExp][] = [
      [{ claims: wanted }, { name: '' }, /The claim address is not disclosed/],
      [{ claims: wanted }, { name: '', address: { street: '' } }, /The claim address\.city is not disclosed/],
      [
        { proofs: [{ schemaId: 'https://schemas.example/person' }] },
        undefined,
        /accepts none of the schemas/,
      ],
      [
        { proofs: [{ schemaId: anyCredential, trustIssuers: [other] }] },
        undefined,
        /does not trust the issuer/,
      ],
    ]
    for (const [request, named, why] of refused) {
      const { thid, accept } = await askSdJwt(issuer, holder, { connectionId, ...request })
      await accept({ proofId: [bound!.recordId], ...(named && { claims: named as never }) })
      const record = await presentationIn(issuer.call, thid, 'PresentationVerificationFailed')
      expect(record.metaLastFailure!.detail).toMatch(why)
      expect(record).not.toHaveProperty('disclosedClaims')
      expect(
        (await presentationIn(holder.call, thid, 'ProblemReportReceived')).metaLastFailure!.detail,
      ).toMatch(why)
    }
    const { thid, accept } = await askSdJwt(issuer, holder, {
      connectionId,
      proofs: [{ schemaId: anyCredential, trustIssuers: [holding.issuingDID] }],
    })
    await accept({ proofId: [bound!.recordId] })
    await presentationIn(issuer.call, thid, 'PresentationVerified')
  })

  test('must satisfy the policy of the request', async () => {
    const { did: other } = await newDid(issuer, 'assertionMethod', 'Ed25519')
    const accepted = { schemaId: anyCredential, trustedIssuers: [holding.issuingDID] }
    const theirs = { schemaId: anyCredential, trustedIssuers: [other] }
    const elsewhere = { schemaId: 'https://a.example/1', trustedIssuers: [holding.issuingDID] }
    const cases: [string, (typeof accepted)[], RegExp | undefined][] = [
      ['one of two', [theirs, accepted], undefined],
      [
        'this type by another issuer, or another type by this one',
        [theirs, elsewhere],
        /does not trust the issuer/,
      ],
    ]
    for (const [what, constraints, refusal] of cases) {
      const { id: policyId } = await issuer.call('POST /verification/policies', {
        body: { name: 'people', description: '', constraints },
      })
      for (const { recordId } of [bound!, unbound!]) {
        const { thid, accept } = await askSdJwt(issuer, holder, { connectionId, policyId })
        await accept({ proofId: [recordId] })
        const end = refusal ? 'PresentationVerificationFailed' : 'PresentationVerified'
        const { metaLastFailure } = await presentationIn(issuer.call, thid, end)
        expect([what, metaLastFailure?.detail]).toEqual([what, refusal && expect.stringMatching(refusal)])
      }
    }
  })

  test('of missing claims is refused, and the request stays open', async () => {
    const jwt = await issue(issuer, holder, connectionId, holding.issuingDID, holding.subjectId)
    const { thid, accept } = await askSdJwt(issuer, holder, {
      connectionId,
      claims: { name: '', email: { work: '' } },
    })
    const format = 'error:PresentationError:NotMatchingPresentationCredentialFormat'
    const one = [bound!.recordId]
    const refused: [Parameters<typeof accept>[0], { status: number; type?: string; detail: RegExp }][] = [
      [{ proofId: one }, { status: 400, detail: /has no claim email, which was asked for/ }],
      [
        { proofId: one, claims: { address: { zip: '' } } },
        { status: 400, detail: /has no claim address\.zip, which is to be shown/ },
      ],
      [{ proofId: [] }, { status: 400, detail: /proofId is empty/ }],
      [{ proofId: [bound!.recordId, unbound!.recordId] }, { status: 400, detail: /exactly one/ }],
      [
        { proofId: [jwt.recordId] },
        { status: 400, type: format, detail: /is a JWT, and the request is for SDJWT/ },
      ],
      [
        { proofId: one, credentialFormat: 'JWT' },
        { status: 400, type: format, detail: /the request is for SDJWT/ },
      ],
      [{ proofId: [thid] }, { status: 404, detail: /holds no credential/ }],
    ]
    for (const [choice, { detail, ...rest }] of refused) {
      expect(await refusal(accept(choice))).toMatchObject({ ...rest, detail: expect.stringMatching(detail) })
    }
    await accept({ proofId: one, credentialFormat: 'SDJWT', claims: { name: '' } })

    const plain = await issuer.call('POST /present-proof/presentations', { body: { connectionId } })
    const { presentationId } = await presentationIn(holder.call, plain.thid, 'RequestReceived')
    const act = (choice: object) =>
      refusal(actOnProof(holder, presentationId, { action: 'request-accept', ...choice }))
    expect(await act({ proofId: one })).toMatchObject({
      status: 400,
      type: format,
      detail: expect.stringContaining('is a SDJWT'),
    })
    expect(await act({ proofId: [jwt.recordId], claims: { name: '' } })).toMatchObject({
      status: 400,
      detail: expect.stringMatching(/^claims:/),
    })
  })

  test('is requested in one format, by names of disclosable claims', async () => {
    const refused: [object, RegExp][] = [
      [{ credentialFormat: 'JWT', presentationFormat: 'SDJWT' }, /presentationFormat/],
      [{ claims: { name: '' } }, /claims: is for the format SDJWT/],
      [{ credentialFormat: 'SDJWT', claims: { iss: '' } }, /claims\.iss/],
      [{ credentialFormat: 'SDJWT', claims: ['name'] }, /claims/],
      [{ credentialFormat: 'Paper' }, /credentialFormat/],
    ]
    for (const [body, detail] of refused) {
      const call = issuer.call('POST /present-proof/presentations', { body: { connectionId, ...body } })
      await expectRefusal(call, 400, detail)
    }
  })

  test('is invalid for another verifier and without the key', async () => {
    await using thief = await openParty()
    const { connectionId: theirs, theirDid } = await thief.connect(issuer)
    const ask = (named: object) =>
      issuer.call('POST /present-proof/presentations', {
        body: { connectionId: theirs, credentialFormat: 'SDJWT', options, claims: named as never },
      })
    const options = { challenge: 'twice the same', domain: 'https://verifier.example' }
    const shownOnce = await issuer.call('POST /present-proof/presentations', {
      body: {
        connectionId,
        credentialFormat: 'SDJWT',
        options: { ...options, domain: 'https://other.example' },
        claims: { age: '' },
      },
    })
    const { presentationId } = await presentationIn(holder.call, shownOnce.thid, 'RequestReceived')
    await prove(holder, presentationId, bound!.recordId)
    const genuine = (await presentationIn(issuer.call, shownOnce.thid, 'PresentationVerified')).data[0]!
    const attempts: [string, string, RegExp][] = [
      ['as it was shown to another', genuine, /is for \[https:\/\/other\.example\]/],
      ['as the credential is', bound!.credential, /requires key binding/],
      ['not at all', 'nothing', /~/],
    ]
    for (const [what, token, why] of attempts) {
      const { thid, presentationId: id } = await ask({ age: '' })
      await presentationIn(issuer.call, thid, 'RequestSent')
      const attachments = [
        { id: '1', format: 'prism/jwt', data: { base64: Buffer.from(token).toString('base64url') } },
      ]
      const type = typesOf.presentationRequest.replace('request-', '')
      expect([what, (await thief.send(theirDid, { type, thid, body: {}, attachments })).status]).toEqual([
        what,
        200,
      ])
      const record = await issuer.call('GET /present-proof/presentations/{presentationId}', {
        path: { presentationId: id },
      })
      expect([what, record.status, record.metaLastFailure?.detail]).toEqual([
        what,
        'PresentationVerificationFailed',
        expect.stringMatching(why),
      ])
    }
    // The attachment's format name does not matter, and any holder can present an unbound credential.
    const { thid } = await ask({ age: '' })
    const token = presentSdJwt({
      sdJwt: unbound!.credential,
      claims: { age: '' },
      audience: '',
      nonce: '',
      now: 0,
    })
    const attachments = [
      {
        id: '1',
        format: 'dif/presentation-exchange/submission@v1.0',
        data: { base64: Buffer.from(token).toString('base64url') },
      },
    ]
    await thief.send(theirDid, {
      type: typesOf.presentationRequest.replace('request-', ''),
      thid,
      body: {},
      attachments,
    })
    expect((await presentationIn(issuer.call, thid, 'PresentationVerified')).disclosedClaims).toEqual({
      age: 42,
    })
  })
})
