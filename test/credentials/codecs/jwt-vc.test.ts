import { decodeJwtVc, verifyJwtVc } from './_verify.ts'
import { describe, expect, test } from 'vitest'
import { toPublic } from '../../../src/foundation/crypto/keys.ts'
import { type CredentialContent, issueJwtVc } from '../../../src/credentials/codecs/jwt-vc.ts'
import type { VerificationOptions } from '../../../src/credentials/codecs/verify.ts'
import { vc } from './_forge.ts'
import { toV2 } from './_forged-credentials.ts'
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

const issue = (change: Partial<CredentialContent> = {}) => issueJwtVc({ ...content, ...change })
const verify = (jwt: string, options: Partial<VerificationOptions> = {}) =>
  verifyJwtVc(jwt, { resolve, now, ...options })
const refusal = (jwt: string, options?: Partial<VerificationOptions>) => failureOf(() => verify(jwt, options))
/** A credential that another key than the issuer's signed. */
const forged = (change: Partial<CredentialContent> = {}) =>
  issue({ issuerKey: holder.keys['issue-1'].jwk, ...change })

describe('issueJwtVc', () => {
  test('writes exactly the members of the Cloud Agent, in their order', () => {
    const [header, payload] = partsOf(issue({ kid: 'issue-1', credentialStatus: status }))
    expect(Buffer.from(header, 'base64url').toString()).toBe('{"typ":"JWT","alg":"ES256K","kid":"issue-1"}')
    expect(Buffer.from(payload, 'base64url').toString()).toBe(
      `{"iss":"${issuer.did}","sub":"${holder.longForm}","nbf":1700000000,"exp":1700003600,"vc":{"@context":["https://www.w3.org/2018/credentials/v1"],` +
        `"type":["VerifiableCredential"],"credentialSubject":{"familyName":"Wonderland","drivingClass":3,"address":{"city":"Zürich"},"id":"${holder.longForm}"},` +
        `"issuer":{"id":"${issuer.did}","type":"Profile"},"credentialSchema":[{"id":"${schemaId}","type":"CredentialSchema2022"}],` +
        `"credentialStatus":${JSON.stringify(status)}}}`,
    )
  })

  test('omits absent members', () => {
    const jwt = issue({ schemas: [], validityPeriod: undefined })
    expect(Buffer.from(partsOf(jwt)[0], 'base64url').toString()).toBe('{"typ":"JWT","alg":"ES256K"}')
    expect(Object.keys(payloadOf(jwt))).toEqual(['iss', 'sub', 'nbf', 'vc'])
    expect(Object.keys(payloadOf(jwt).vc)).toEqual(['@context', 'type', 'credentialSubject', 'issuer'])
  })

  test('writes whole seconds', () => {
    expect(payloadOf(issue({ now: now + 0.9, validityPeriod: 60.5 }))).toMatchObject({
      nbf: now,
      exp: now + 60,
    })
  })

  test('replaces a claim named id by the subject', () => {
    const { vc } = payloadOf(issue({ claims: { id: 'did:example:other', a: 1 } }))
    expect(vc.credentialSubject).toEqual({ id: holder.longForm, a: 1 })
  })

  test.each([
    ['vc-es256k', 'issue-1'],
    ['vc-eddsa', 'issue-2'],
  ] as const)('reproduces the fixture %s', (name, kid) => {
    const jwt = issue({ issuerKey: issuer.keys[kid].jwk, kid })
    expect(partsOf(jwt).slice(0, 2)).toEqual(partsOf(tokens[name]!).slice(0, 2))
    if (kid === 'issue-2') expect(jwt).toBe(tokens[name])
  })
})

describe('verifyJwtVc', () => {
  test.each([
    ['the fixture in ES256K', tokens['vc-es256k']!],
    ['the fixture in EdDSA', tokens['vc-eddsa']!],
    ['the fixture of jose with a full kid', tokens['vc-eddsa-by-jose']!],
    ['no kid, several keys', issue()],
    ['no kid, the second key', issue({ issuerKey: issuer.keys['issue-2'].jwk })],
    ['a bare kid', issue({ kid: 'issue-1' })],
    ['a kid that is a fragment', issue({ kid: '#issue-1' })],
    ['the DID as kid', issue({ kid: issuer.did })],
    ['a thumbprint as kid', issue({ kid: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs' })],
    ['a path of a key store as kid', issue({ kid: 'vault/keys#7' })],
    ['a kid with an empty fragment', issue({ kid: `${issuer.did}#` })],
    ['a kid with the short form', issue({ kid: `${issuer.did}#issue-1` })],
    ['a kid with the long form', issue({ kid: `${issuer.longForm}#issue-1` })],
    ['iss in the long form', issue({ issuerDid: issuer.longForm })],
    ['data model 2.0', vc(toV2())],
    ['data model 2.0 without iss', vc(toV2({ iss: undefined, issuer: issuer.did }))],
    ['a list of one subject', vc((p) => (p.vc.credentialSubject = [p.vc.credentialSubject]))],
    ['types in lists', vc((p) => (p.vc.credentialSchema = { id: schemaId, type: ['JsonSchema', 'Other'] }))],
  ])('accepts %s', async (_, jwt) => {
    const verified = await verify(jwt)
    expect(verified.claims.familyName).toBe('Wonderland')
    expect(verified.key?.id).toMatch(/^did:prism:[0-9a-f]{64}(:\w+)?#issue-[12]$/)
  })

  test('returns the verified credential', async () => {
    const jwt = issue({ kid: 'issue-1' })
    expect(await verify(jwt)).toEqual({
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

  test('accepts a document with relative ids', async () => {
    const document = JSON.parse(JSON.stringify(documentOf(issuer)).replaceAll(`"${issuer.did}#`, '"#'))
    expect((await verify(issue(), { resolve: async () => document })).key?.id).toBe(`${issuer.did}#issue-1`)
  })

  test.each([
    ['short form for the long', issuer.longForm, issuer.did],
    ['long form for the short', issuer.did, issuer.longForm],
  ])('accepts a document with the %s', async (_, issuerDid, id) => {
    for (const kid of [undefined, 'issue-1', `${issuerDid}#issue-1`]) {
      const verified = await verify(issue({ issuerDid, kid }), {
        resolve: async () => documentOf(issuer, id),
      })
      expect(verified.key?.id).toBe(`${id}#issue-1`)
    }
  })

  /** Differences between real issuers. */
  const variations: [string, (payload: Record<string, any>) => void][] = [
    ['issuer as text', ({ vc }) => (vc.issuer = issuer.longForm)],
    ['no issuer', ({ vc }) => delete vc.issuer],
    ['one schema, not a list', ({ vc }) => (vc.credentialSchema = vc.credentialSchema[0])],
    ['no schema', ({ vc }) => delete vc.credentialSchema],
    ['no sub', (payload) => delete payload.sub],
    ['no id of the subject', ({ vc }) => delete vc.credentialSubject.id],
    ['sub in the short form', (payload) => (payload.sub = holder.did)],
    [
      'jti, iat and unknown members',
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
  test.each(variations)('accepts %s', async (_, vary) => {
    const payload = payloadOf(issue())
    vary(payload)
    const key = issuer.keys['issue-1'].jwk
    expect(await verify(forge(headerOf(key), payload, key))).toMatchObject({ payload })
  })

  test('accepts a header without typ, and ignores a key in the header', async () => {
    const key = issuer.keys['issue-1'].jwk
    for (const header of [
      { alg: 'ES256K' },
      { alg: 'ES256K', jwk: toPublic(holder.keys['auth-1'].jwk), jku: 'https://evil.example' },
    ]) {
      const verified = await verify(forge(header, payloadOf(issue()), key))
      expect(verified.key?.publicKeyJwk).toEqual(toPublic(key))
    }
  })

  test('keeps claims named like members of Object.prototype and changes no prototype', async () => {
    const claims = JSON.parse(
      '{"__proto__":{"admin":true},"constructor":"c","toString":"t","hasOwnProperty":1}',
    )
    const jwt = issue({ claims })
    const verified = await verify(jwt)
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

  describe('at the bounds of the validity', () => {
    const jwt = issue()
    const at = (time: number, leewaySeconds?: number) => verify(jwt, { now: time, leewaySeconds })

    test('allows 30 s at both bounds', async () => {
      await at(now - 30)
      await at(now + 3600 + 29)
      expect(await failureOf(() => at(now - 31))).toBe('not-yet-valid')
      expect(await failureOf(() => at(now + 3600 + 30))).toBe('expired')
    })

    test('allows the given leeway', async () => {
      await at(now, 0)
      await at(now + 3599, 0)
      await at(now - 300, 300)
      expect(await failureOf(() => at(now - 1, 0))).toBe('not-yet-valid')
      expect(await failureOf(() => at(now + 3600, 0))).toBe('expired')
    })

    test('refuses NaN as time or leeway', async () => {
      expect(await failureOf(() => at(NaN))).toBe('not-yet-valid')
      expect(await failureOf(() => at(now, NaN))).toBe('not-yet-valid')
    })

    test('skips only the dates with verifyDates: false', async () => {
      await verify(jwt, { now: now + 99_999, verifyDates: false })
      expect(await refusal(forged(), { now: now + 99_999, verifyDates: false })).toBe('signature')
    })
  })

  test('resolves no DID with verifySignature: false, and still checks dates', async () => {
    const options = { resolve: () => Promise.reject(new Error('resolved')), verifySignature: false }
    expect((await verify(forged(), options)).key).toBeUndefined()
    expect(await refusal(forged(), { ...options, now: 0 })).toBe('not-yet-valid')
  })

  describe('of a credential with a status', () => {
    const jwt = issue({ credentialStatus: status })

    test('checks it after the signature', async () => {
      const asked: unknown[] = []
      await verify(jwt, {
        checkStatus: async (entry, credential) => void asked.push(entry, credential.issuerDid),
      })
      expect(asked).toEqual([status, issuer.did])
      const checkStatus = async () => void asked.push('again')
      expect(await refusal(forged({ credentialStatus: status }), { checkStatus })).toBe('signature')
      expect(asked).toHaveLength(2)
    })

    test('checks several, and accepts an index as text', async () => {
      const payload = payloadOf(jwt)
      payload.vc.credentialStatus = [status, { ...status, statusPurpose: 'suspension', statusListIndex: '7' }]
      const asked: unknown[] = []
      const several = forge(headerOf(content.issuerKey), payload, content.issuerKey)
      await verify(several, { checkStatus: async (entry) => void asked.push(entry.statusListIndex) })
      expect(asked).toEqual([7, '7'])
    })

    test('refuses it without checkStatus, unless verifyStatus is false', async () => {
      expect(await refusal(jwt)).toBe('status')
      await verify(jwt, { verifyStatus: false })
    })

    test('refuses it when the check throws anything', async () => {
      for (const error of [new Error('revoked'), 'text', undefined]) {
        expect(await refusal(jwt, { checkStatus: () => Promise.reject(error) })).toBe('status')
      }
    })
  })
})
