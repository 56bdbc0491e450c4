import { describe, expect, test } from 'vitest'
import { toPublic } from '../../src/crypto/keys.ts'
import { decodeJwtVc } from '../../src/credentials/jwt-vc.ts'
import { issueJwtVc, verifyJwtVc } from '../../src/credentials/jwt-vc.ts'
import {
  content,
  documentOf,
  failureOf,
  fixture,
  forge,
  headerOf,
  holder,
  issuer,
  now,
  partsOf,
  payloadOf,
  resolve,
  schemaId,
} from './_people.ts'

const { tokens } = fixture('tokens.json') as { tokens: Record<string, string> }
const status = {
  id: 'https://a.example/1#7',
  type: 'StatusList2021Entry',
  statusPurpose: 'Revocation',
  statusListIndex: 7,
  statusListCredential: 'https://a.example/1',
}

describe('issueJwtVc', () => {
  test('writes exactly the members of the real agent, in their order', () => {
    const [header, payload] = partsOf(issueJwtVc({ ...content, kid: 'issue-1', credentialStatus: status }))
    expect(Buffer.from(header, 'base64url').toString()).toBe('{"typ":"JWT","alg":"ES256K","kid":"issue-1"}')
    expect(Buffer.from(payload, 'base64url').toString()).toBe(
      `{"iss":"${issuer.did}","sub":"${holder.longForm}","nbf":1700000000,"exp":1700003600,"vc":{"@context":["https://www.w3.org/2018/credentials/v1"],` +
        `"type":["VerifiableCredential"],"credentialSubject":{"familyName":"Wonderland","drivingClass":3,"address":{"city":"Zürich"},"id":"${holder.longForm}"},` +
        `"issuer":{"id":"${issuer.did}","type":"Profile"},"credentialSchema":[{"id":"${schemaId}","type":"CredentialSchema2022"}],` +
        `"credentialStatus":${JSON.stringify(status)}}}`,
    )
  })

  test('leaves out kid, exp, schema and status where there are none', () => {
    const jwt = issueJwtVc({ ...content, schemas: [], validityPeriod: undefined })
    expect(Buffer.from(partsOf(jwt)[0], 'base64url').toString()).toBe('{"typ":"JWT","alg":"ES256K"}')
    expect(Object.keys(payloadOf(jwt))).toEqual(['iss', 'sub', 'nbf', 'vc'])
    expect(Object.keys(payloadOf(jwt).vc)).toEqual(['@context', 'type', 'credentialSubject', 'issuer'])
  })

  test('writes whole seconds', () => {
    expect(payloadOf(issueJwtVc({ ...content, now: now + 0.9, validityPeriod: 60.5 }))).toMatchObject({
      nbf: now,
      exp: now + 60,
    })
  })

  test('writes the subject over a claim called id', () => {
    const { vc } = payloadOf(issueJwtVc({ ...content, claims: { id: 'did:example:somebody-else', a: 1 } }))
    expect(vc.credentialSubject).toEqual({ id: holder.longForm, a: 1 })
  })

  test.each([
    ['vc-es256k', 'issue-1'],
    ['vc-eddsa', 'issue-2'],
  ] as const)('writes what it wrote when the fixtures were made: %s', (name, kid) => {
    const jwt = issueJwtVc({ ...content, issuerKey: issuer.keys[kid].jwk, kid })
    expect(partsOf(jwt).slice(0, 2)).toEqual(partsOf(tokens[name]!).slice(0, 2))
    if (kid === 'issue-2') expect(jwt).toBe(tokens[name])
  })
})

describe('verifyJwtVc', () => {
  test.each([
    ['the fixture in ES256K', tokens['vc-es256k']!],
    ['the fixture in EdDSA', tokens['vc-eddsa']!],
    ['the fixture of jose with a full kid', tokens['vc-eddsa-by-jose']!],
    ['no kid, several keys', issueJwtVc(content)],
    ['no kid, the second key', issueJwtVc({ ...content, issuerKey: issuer.keys['issue-2'].jwk })],
    ['a bare kid', issueJwtVc({ ...content, kid: 'issue-1' })],
    ['a kid that is a fragment', issueJwtVc({ ...content, kid: '#issue-1' })],
    ['a kid with the short form', issueJwtVc({ ...content, kid: `${issuer.did}#issue-1` })],
    ['a kid with the long form', issueJwtVc({ ...content, kid: `${issuer.longForm}#issue-1` })],
    ['iss in the long form', issueJwtVc({ ...content, issuerDid: issuer.longForm })],
  ])('takes %s', async (_, jwt) => {
    const verified = await verifyJwtVc(jwt, { resolve, now })
    expect(verified.claims.familyName).toBe('Wonderland')
    expect(verified.key?.id).toMatch(/^did:prism:[0-9a-f]{64}(:\w+)?#issue-[12]$/)
  })

  test('says what it verified', async () => {
    const jwt = issueJwtVc({ ...content, kid: 'issue-1' })
    expect(await verifyJwtVc(jwt, { resolve, now })).toEqual({
      jwt,
      issuerDid: issuer.did,
      subjectDid: holder.longForm,
      claims: { ...content.claims, id: holder.longForm },
      schemas: [schemaId],
      statuses: [],
      validFrom: now,
      validUntil: now + 3600,
      payload: payloadOf(jwt),
      key: { id: `${issuer.did}#issue-1`, publicKeyJwk: toPublic(issuer.keys['issue-1'].jwk) },
    })
  })

  test('takes a document whose ids are relative', async () => {
    const document = JSON.parse(JSON.stringify(documentOf(issuer)).replaceAll(`"${issuer.did}#`, '"#'))
    expect((await verifyJwtVc(issueJwtVc(content), { resolve: async () => document, now })).key?.id).toBe(
      `${issuer.did}#issue-1`,
    )
  })

  test.each([
    ['short form for the long', issuer.longForm, issuer.did],
    ['long form for the short', issuer.did, issuer.longForm],
  ])('takes a document under the %s', async (_, issuerDid, id) => {
    for (const kid of [undefined, 'issue-1', `${issuerDid}#issue-1`]) {
      const verified = await verifyJwtVc(issueJwtVc({ ...content, issuerDid, kid }), {
        resolve: async () => documentOf(issuer, id),
        now,
      })
      expect(verified.key?.id).toBe(`${id}#issue-1`)
    }
  })

  /** What real issuers write otherwise (wire.md 8.1). */
  const variations: [string, (payload: Record<string, any>) => void][] = [
    ['issuer as text', ({ vc }) => (vc.issuer = issuer.longForm)],
    ['no issuer', ({ vc }) => delete vc.issuer],
    ['one schema, not a list', ({ vc }) => (vc.credentialSchema = vc.credentialSchema[0])],
    ['no schema', ({ vc }) => delete vc.credentialSchema],
    ['no sub', (payload) => delete payload.sub],
    ['no id of the subject', ({ vc }) => delete vc.credentialSubject.id],
    ['sub in the short form', (payload) => (payload.sub = holder.did)],
    [
      'jti, iat and members nobody knows',
      (payload) => Object.assign(payload, { jti: 'urn:uuid:1', iat: now, extra: [1] }),
    ],
    [
      'dates as text',
      ({ vc }) =>
        Object.assign(vc, {
          issuanceDate: '2023-11-14T22:13:20Z',
          expirationDate: '2023-11-14T23:13:20.5+00:00',
        }),
    ],
    ['dates as numbers', ({ vc }) => Object.assign(vc, { validFrom: now, validUntil: now + 60 })],
    ['dates with fractions', (payload) => (payload.nbf = now - 0.5)],
    ['no dates', (payload) => (delete payload.nbf, delete payload.exp)],
    [
      'type and context as text',
      ({ vc }) =>
        Object.assign(vc, {
          type: 'VerifiableCredential',
          '@context': 'https://www.w3.org/2018/credentials/v1',
        }),
    ],
    [
      'further types and contexts',
      ({ vc }) => (vc.type.push('Licence'), vc['@context'].push({ a: 'https://a.example' })),
    ],
    [
      'the context of the data model 2.0',
      ({ vc }) => (vc['@context'] = ['https://www.w3.org/ns/credentials/v2']),
    ],
  ]
  test.each(variations)('takes %s', async (_, vary) => {
    const payload = payloadOf(issueJwtVc(content))
    vary(payload)
    const key = issuer.keys['issue-1'].jwk
    expect(await verifyJwtVc(forge(headerOf(key), payload, key), { resolve, now })).toMatchObject({ payload })
  })

  test('takes a header without typ, and one that brings a key along which is not used', async () => {
    const key = issuer.keys['issue-1'].jwk
    for (const header of [
      { alg: 'ES256K' },
      { alg: 'ES256K', jwk: toPublic(holder.keys['auth-1'].jwk), jku: 'https://evil.example' },
    ]) {
      expect(
        (await verifyJwtVc(forge(header, payloadOf(issueJwtVc(content)), key), { resolve, now })).key
          ?.publicKeyJwk,
      ).toEqual(toPublic(key))
    }
  })

  test('keeps claims called like members of Object.prototype and changes no prototype', async () => {
    const claims = JSON.parse(
      '{"__proto__":{"admin":true},"constructor":"c","toString":"t","hasOwnProperty":1}',
    )
    const jwt = issueJwtVc({ ...content, claims })
    const verified = await verifyJwtVc(jwt, { resolve, now })
    expect(Object.keys(verified.claims)).toEqual([
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      'id',
    ])
    expect(verified.claims.admin).toBeUndefined()
    expect(({} as Record<string, unknown>).admin).toBeUndefined()
    expect(decodeJwtVc(jwt).subjectDid).toBe(holder.longForm)
  })

  describe('at the edges of time', () => {
    const jwt = issueJwtVc(content)
    const at = (time: number, leewaySeconds?: number) =>
      verifyJwtVc(jwt, { resolve, now: time, leewaySeconds })

    test('allows 30 s either side and no more', async () => {
      await at(now - 30)
      await at(now + 3600 + 29)
      expect(await failureOf(() => at(now - 31))).toBe('not-yet-valid')
      expect(await failureOf(() => at(now + 3600 + 30))).toBe('expired')
    })

    test('allows what it is told to', async () => {
      await at(now, 0)
      await at(now + 3599, 0)
      await at(now - 300, 300)
      expect(await failureOf(() => at(now - 1, 0))).toBe('not-yet-valid')
      expect(await failureOf(() => at(now + 3600, 0))).toBe('expired')
    })

    test('refuses when the time or the leeway is no number', async () => {
      expect(await failureOf(() => at(NaN))).toBe('not-yet-valid')
      expect(await failureOf(() => at(now, NaN))).toBe('not-yet-valid')
    })

    test('does not look at dates when told not to, and at nothing less', async () => {
      await verifyJwtVc(jwt, { resolve, now: now + 99_999, verifyDates: false })
      const mallorys = issueJwtVc({ ...content, issuerKey: holder.keys['issue-1'].jwk })
      expect(
        await failureOf(() => verifyJwtVc(mallorys, { resolve, now: now + 99_999, verifyDates: false })),
      ).toBe('signature')
    })
  })

  test('does not resolve anybody when told not to look at signatures, and still looks at dates', async () => {
    const forged = issueJwtVc({ ...content, issuerKey: holder.keys['issue-1'].jwk })
    const nobody = async () => Promise.reject(new Error('asked'))
    expect((await verifyJwtVc(forged, { resolve: nobody, now, verifySignature: false })).key).toBeUndefined()
    expect(
      await failureOf(() => verifyJwtVc(forged, { resolve: nobody, now: 0, verifySignature: false })),
    ).toBe('not-yet-valid')
  })

  describe('of a credential with a status', () => {
    const jwt = issueJwtVc({ ...content, credentialStatus: status })

    test('asks for each of them, after the signature', async () => {
      const asked: unknown[] = []
      await verifyJwtVc(jwt, {
        resolve,
        now,
        checkStatus: async (entry, credential) => void asked.push(entry, credential.issuerDid),
      })
      expect(asked).toEqual([status, issuer.did])
      const forged = issueJwtVc({
        ...content,
        credentialStatus: status,
        issuerKey: holder.keys['issue-1'].jwk,
      })
      expect(
        await failureOf(() =>
          verifyJwtVc(forged, { resolve, now, checkStatus: async () => void asked.push('again') }),
        ),
      ).toBe('signature')
      expect(asked).toHaveLength(2)
    })

    test('asks for several, and takes an index as text', async () => {
      const payload = payloadOf(jwt)
      payload.vc.credentialStatus = [status, { ...status, statusPurpose: 'suspension', statusListIndex: '7' }]
      const asked: unknown[] = []
      const several = forge(headerOf(content.issuerKey), payload, content.issuerKey)
      await verifyJwtVc(several, {
        resolve,
        now,
        checkStatus: async (entry) => void asked.push(entry.statusListIndex),
      })
      expect(asked).toEqual([7, '7'])
    })

    test('refuses where there is nobody to ask, unless told not to look', async () => {
      expect(await failureOf(() => verifyJwtVc(jwt, { resolve, now }))).toBe('status')
      await verifyJwtVc(jwt, { resolve, now, verifyStatus: false })
    })

    test('refuses whatever the answer throws', async () => {
      for (const error of [new Error('revoked'), 'text', undefined]) {
        expect(
          await failureOf(() => verifyJwtVc(jwt, { resolve, now, checkStatus: () => Promise.reject(error) })),
        ).toBe('status')
      }
    })
  })
})
